import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { waitFor } from '@glovebox/testing';
import { contextOf, type Context } from '../context';
import { AuthorsFolder, endLeft, interruptionsOf, Lender } from '../run/spec-lender';
import { run } from './run';

let lender: Lender;
let folder: AuthorsFolder;
let said: string;
let exits: unknown[];
let send: (name: NodeJS.Signals) => void;
beforeEach(async () => {
  lender = await Lender.start();
  folder = new AuthorsFolder();
  folder.store({ url: lender.url, managementKey: 'key_that_manages' });
  said = '';
  exits = [];
});
afterEach(async () => {
  process.exitCode = 0;
  if (isThere('pid')) endLeft(Number(textOf('pid')));
  folder.remove();
  await lender.close();
});

const agent = { as: 'agent', forward: 'http://127.0.0.1:1' };
const fileOf = (name: string): string => join(folder.path, name);
const isThere = (name: string): boolean => existsSync(fileOf(name));
const textOf = (name: string): string => readFileSync(fileOf(name), 'utf8');
const node = (code: string): string[] => [process.execPath, '-e', code];

function contextOfAuthor(url = lender.url): Context {
  const stderr = new Writable({
    write(chunk, _, done) {
      said += String(chunk);
      done();
    },
  }) as unknown as typeof process.stderr;
  const at = { cwd: () => folder.path, stdout: process.stdout, stderr };
  const signals = interruptionsOf((code) => exits.push(code));
  ({ send } = signals);
  return contextOf({ color: false, url }, folder.env, at, signals.interruptions);
}

let others: Lender;
beforeEach(async () => (others = await Lender.start()));
afterEach(() => others.close());

it('the session of a person lends a key at the console, which alone knows it', async () => {
  const session = { url: `${lender.url}/api`, key: 'session_of_ada', expiresAt: '2999-01-01' };
  folder.store({ url: others.url, session });
  await run(contextOfAuthor(others.url), agent, ...node('process.exit(7)'));
  expect(process.exitCode).toBe(7);
  expect(said).toBe('');
  expect(others.calls).toEqual([]);
  expect(lender.calls.at(-1)).toEqual(['DELETE /api/applications/lent-0', 'session_of_ada']);
});

it('a slow answer before there is a key is waited for with words', async () => {
  lender.showing = () => waitFor(() => said === '… asking for the authority\n');
  await run(contextOfAuthor(), agent, ...node(''));
  expect(process.exitCode).toBe(0);
});

it('an interruption while a key is made starts no command, and the key goes', async () => {
  let make = (): void => undefined;
  lender.making = () => new Promise((done) => (make = done));
  const context = contextOfAuthor();
  const code = `require('node:fs').writeFileSync(${JSON.stringify(fileOf('started'))}, '')`;
  const ended = run(context, agent, ...node(code)).catch(context.explained);
  await waitFor(() => lender.calls.some(([call]) => call === 'POST /applications'));
  for (const name of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const) send(name);
  make();
  expect(await ended).toMatchObject({ exit: 'interrupted' });
  expect(isThere('started')).toBe(false);
  expect(lender.calls.at(-1)).toEqual(['DELETE /applications/lent-0', 'key_that_manages']);
  expect(exits).toEqual([]);
});

const counting = `
const { renameSync, writeFileSync } = require('node:fs');
const write = (name, text) => {
  writeFileSync(name + '.part', text);
  renameSync(name + '.part', name);
};
const got = [];
for (const name of ['SIGTERM', 'SIGHUP']) {
  process.on(name, () => {
    got.push(name);
    write(process.env.FOLDER + '/got', got.join());
    if (got.length === 3) process.exit(5);
  });
}
setTimeout(() => process.exit(1), 60_000);
write(process.env.FOLDER + '/pid', String(process.pid));
write(process.env.FOLDER + '/authorities', process.env.CURL_CA_BUNDLE);
`;

it('a command gets each signal, and after its end its key and its authorities go', async () => {
  Object.assign(folder.env, { FOLDER: folder.path });
  const ended = run(contextOfAuthor(), agent, ...node(counting));
  await waitFor(() => isThere('authorities'));
  const authorities = textOf('authorities');
  expect(existsSync(authorities)).toBe(true);
  send('SIGTERM');
  await waitFor(() => isThere('got'));
  send('SIGHUP');
  await waitFor(() => textOf('got') === 'SIGTERM,SIGHUP');
  expect(lender.made.size).toBe(1);
  send('SIGTERM');
  await ended;
  expect(process.exitCode).toBe(5);
  expect(exits).toEqual([]);
  expect(existsSync(authorities)).toBe(false);
  expect(lender.made.size).toBe(0);
});

it('a command that does not start gives its key back', async () => {
  const ended = run(contextOfAuthor(), agent, join(folder.path, 'no-such-program'));
  await expect(ended).rejects.toMatchObject({ exit: 'usage' });
  expect(lender.calls.at(-1)).toEqual(['DELETE /applications/lent-0', 'key_that_manages']);
});

it.each(['http://glovebox.example:8085', 'http://127.0.0.1.example', 'http://localhost.example'])(
  'the key is not sent in the clear to %s, unless the author says so',
  async (forward) => {
    const command = node('process.exit(7)');
    const ended = run(contextOfAuthor(), { as: 'agent', forward }, ...command);
    await expect(ended).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringContaining('is not encrypted'),
    });
    expect(lender.calls).toEqual([]);
    await run(contextOfAuthor(), { as: 'agent', forward, allowHttp: true }, ...command);
    expect(process.exitCode).toBe(7);
  },
);
