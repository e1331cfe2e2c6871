import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';

import { specConfig, specRuntimes } from '../spec-runner';
import { channelOf, launch, locateFiles, runtimeFiles } from './launcher';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-start-'));
const config = specConfig(folder);
const file = join(folder, 'script.js');
chmodSync(folder, 0o755);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Everything that a script can reach without asking, and how it is called. */
const script = `
  const describe = (object) => Object.fromEntries(Object.getOwnPropertyNames(object).map((name) => {
    const { value, ...rest } = Object.getOwnPropertyDescriptor(object, name);
    return [name, { type: typeof value, ...rest, get: typeof rest.get, set: typeof rest.set }];
  }).sort());
  const { stack } = new Error();
  const self = this === exports;
  const { mainModule, ...atOnce } = describe(process);
  const globalsAtOnce = describe(globalThis);
  setTimeout(() => {
  const text = JSON.stringify({
    globalsAtOnce, globals: describe(globalThis), process: atOnce, argv: process.argv, execArgv: process.execArgv,
    file: __filename, folder: __dirname, at: /script.js:\\d+/.exec(stack)[0], self,
  });
  const fs = require('fs');
  for (let at = 0; at < text.length;) at += fs.writeSync(OUT, text.slice(at));
  }, 20);`;

it.each(specRuntimes)(
  'a script in a sandbox on %s finds what a script finds that Node starts by its path',
  async (runtime) => {
    const files = { ...locateFiles({ ...config, workDir: folder }), probe: file };
    writeFileSync(file, script.replace('OUT', '1'));
    const { node } = runtimeFiles(files, runtime);
    const byPath = execFileSync(node, ['--no-warnings', file, 'argument'], {
      env: {},
      encoding: 'utf8',
    });

    writeFileSync(file, script.replace('OUT', '3'));
    const child = launch({
      ...{ files, runtime, level: 2, limits: config.launchLimits },
      ...{ script: 'probe', scriptArguments: ['argument'] },
    });
    let said = '';
    channelOf(child).on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(child, 'close');
    expect(JSON.parse(said)).toEqual({ ...(JSON.parse(byPath) as object), execArgv: [] });
  },
);
