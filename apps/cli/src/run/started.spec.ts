import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@glovebox/testing';
import { endLeft } from './spec-lender';
import { Started } from './started';

const above = mkdtempSync(join(tmpdir(), 'glovebox-started-'));
afterAll(() => rmSync(above, { recursive: true }));

let commands = 0;
let pid: number | undefined;
afterEach(() => {
  if (pid !== undefined) endLeft(pid);
});

/** A command that takes these signals, and writes them down. */
async function startedWith(taken: readonly string[], isAtTerminal = false) {
  const file = join(above, `${(commands += 1)}`);
  const code = `
    const { appendFileSync } = require('node:fs');
    const write = (text) => appendFileSync(${JSON.stringify(file)}, text + ' ');
    for (const name of ${JSON.stringify(taken)}) process.on(name, () => write(name));
    setTimeout(() => process.exit(1), 60_000);
    write(process.pid);`;
  const settings = { killedAfterMs: 50, isAtTerminal: () => isAtTerminal };
  const started = new Started([process.execPath, '-e', code], {}, settings);
  await waitFor(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
  pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  return { started, got: () => readFileSync(file, 'utf8').trim().split(' ').slice(1) };
}

it.each([
  ['SIGINT', 130],
  ['SIGHUP', 129],
  ['SIGTERM', 143],
] as const)('a command that %s ends has the exit code %i', async (name, code) => {
  const { started } = await startedWith([]);
  started.pass(name);
  expect(await started.ended).toBe(code);
});

it('Ctrl-C at a terminal is left to the command, which has got it from there', async () => {
  const { started, got } = await startedWith(['SIGINT', 'SIGHUP'], true);
  started.pass('SIGINT');
  started.pass('SIGINT');
  started.pass('SIGHUP');
  await waitFor(() => got().includes('SIGHUP'));
  expect(got()).toEqual(['SIGHUP']);
  started.pass('SIGTERM');
  expect(await started.ended).toBe(143);
});

it('a command that ignores SIGTERM is killed after the second one', async () => {
  const { started, got } = await startedWith(['SIGTERM']);
  started.pass('SIGTERM');
  await waitFor(() => got().length === 1);
  started.pass('SIGTERM');
  expect(await started.ended).toBe(137);
});

it('a command is not killed for one SIGTERM and other signals', async () => {
  const { started, got } = await startedWith(['SIGTERM', 'SIGHUP']);
  started.pass('SIGTERM');
  await waitFor(() => got().length === 1);
  const begun = performance.now();
  while (performance.now() - begun < 200) {
    const before = got().length;
    started.pass('SIGHUP');
    await waitFor(() => got().length > before);
  }
  expect(got()[0]).toBe('SIGTERM');
  started.pass('SIGTERM');
  expect(await started.ended).toBe(137);
});
