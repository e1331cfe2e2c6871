import { Writable } from 'node:stream';
import { contextOf, type Context } from '../context';
import { AuthorsFolder, Lender } from '../run/spec-lender';
import { run } from './run';

let lender: Lender;
let folder: AuthorsFolder;
let said: string;
beforeEach(async () => {
  lender = await Lender.start();
  folder = new AuthorsFolder();
  folder.store({ url: lender.url, managementKey: 'key_that_manages' });
  said = '';
});
afterEach(async () => {
  process.exitCode = 0;
  folder.remove();
  await lender.close();
});

const agent = { as: 'agent', forward: 'http://127.0.0.1:1' };
const node = (code: string): string[] => [process.execPath, '-e', code];

function contextOfAuthor(url = lender.url): Context {
  const stderr = new Writable({
    write(chunk, _, done) {
      said += String(chunk);
      done();
    },
  }) as unknown as NodeJS.WriteStream;
  const at = { cwd: () => folder.path, stdout: process.stdout, stderr };
  return contextOf({ color: false, url }, folder.env, at, new AbortController().signal);
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
