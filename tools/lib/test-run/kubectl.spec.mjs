import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findKubectl } from './kubectl.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-kubectl-'));
const before = process.env.KUBECTL;
afterAll(() => {
  process.env.KUBECTL = before ?? '';
  rmSync(folder, { recursive: true });
});

/** @param {string} says */
function programThat(says) {
  const file = join(folder, 'kubectl');
  writeFileSync(file, `#!/bin/sh\n${says}\n`, { mode: 0o755 });
  return file;
}

it.each([
  ['1.27 is taken', `echo '  "gitVersion": "v1.27.0",'`, 'command'],
  ['1.20 is too old', `echo '  "gitVersion": "v1.20.2",'`, 'missing'],
  ['another program is none', 'echo hello', 'missing'],
  ['a program that fails is none', `echo '  "gitVersion": "v1.32.0",'; exit 1`, 'missing'],
])('a kubectl of KUBECTL: %s', async (_, says, answer) => {
  process.env.KUBECTL = programThat(says);
  expect(await findKubectl(folder)).toEqual({
    [answer]: expect.stringContaining(process.env.KUBECTL),
  });
});
