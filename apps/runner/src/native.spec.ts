import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const native = join(__dirname, '../native');
const prebuilt = (architecture: string): string =>
  join(native, `prebuilt/sandbox-exec-${architecture}`);

describe('sandbox-exec', () => {
  it.each(['x64', 'arm64'])('is built for %s from the source that is committed', (architecture) => {
    const source = readFileSync(join(native, 'sandbox-exec.c'));
    const sha256 = createHash('sha256').update(source).digest('hex');
    const binary = readFileSync(prebuilt(architecture), 'latin1');
    expect(binary).toContain(`source-sha256=${sha256}`);
  });

  it('names the source that it was built from', () => {
    const version = execFileSync(prebuilt(process.arch), ['--version'], { encoding: 'utf8' });
    expect(version).toMatch(/^sandbox-exec source-sha256=[0-9a-f]{64}\n$/);
  });

  it.each([
    ['an option that it does not know', ['--what', 'x', '--', '/bin/true']],
    ['a path that is not there', ['--uid', '65534', '--read', '/not/there', '--', '/bin/true']],
    ['a command outside its paths', ['--uid', '65534', '--', '/bin/true']],
    ['no command', ['--uid', '65534']],
    ['a number that is none', ['--uid', 'x', '--', '/bin/true']],
  ])('starts nothing and reports the reason when it gets %s', (_, parameters) => {
    const isRoot = process.getuid?.() === 0;
    const wanted = isRoot ? parameters : parameters.filter((p) => p !== '--uid' && p !== '65534');
    const { status, stderr } = spawnSync(prebuilt(process.arch), wanted, { encoding: 'utf8' });
    expect(status).toBe(126);
    expect(stderr).toMatch(/^sandbox-exec: refused, .+\n$/);
  });
});
