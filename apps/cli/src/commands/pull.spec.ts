import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { startDestination, type Destination } from '@glovebox/testing';
import { contextOf, type Context } from '../context';
import { AuthorsFolder, interruptionsOf } from '../run/spec-lender';
import { pull } from './pull';

type Json = Readonly<Record<string, unknown>>;

let folder: AuthorsFolder;
let glovebox: Destination;
/** What is deployed, by the paths of the API. */
let deployed: Record<string, readonly Json[]>;
/** Texts of code by their hashes. */
let codes: Record<string, string>;
let said: string;
beforeEach(async () => {
  said = '';
  deployed = {};
  codes = {};
  folder = new AuthorsFolder();
  write('glovebox.yaml', 'version: 1\n');
  glovebox = await startDestination((request, response) => {
    const [, path = '', id = ''] = /^(\/[\w-]+)(?:\/(\w+))?/.exec(request.url) ?? [];
    const code = codes[id];
    response.statusCode = path === '/code' && code === undefined ? 404 : 200;
    response.setHeader('Content-Type', 'application/json');
    const body =
      path !== '/code'
        ? { data: deployed[path] ?? [], pagination: {} }
        : code === undefined
          ? { status: 404, code: 'not_found', title: 'Not found' }
          : { code };
    response.end(JSON.stringify(body));
  });
});
afterEach(async () => {
  folder.remove();
  await glovebox.close();
});

const fileOf = (name: string): string => join(folder.path, name);
const textOf = (name: string): string => readFileSync(fileOf(name), 'utf8');

function write(name: string, text: string): void {
  mkdirSync(dirname(fileOf(name)), { recursive: true });
  writeFileSync(fileOf(name), text);
}

function contextOfAuthor(): Context {
  const stream = new Writable({
    write(chunk, _, done) {
      said += String(chunk);
      done();
    },
  }) as unknown as typeof process.stdout & typeof process.stderr;
  const at = { cwd: () => folder.path, stdout: stream, stderr: stream };
  const env = { ...folder.env, GLOVEBOX_KEY: 'key_of_ada' };
  const { interruptions } = interruptionsOf();
  return contextOf({ color: false, url: glovebox.url }, env, at, interruptions);
}

function reactor(name: string, code: Json, members: Json = { slug: name }): void {
  const formula = { id: `f-${name}`, name, type: 'private', runtime: 'node24', ...code };
  deployed['/reactor-formulas'] = [...(deployed['/reactor-formulas'] ?? []), formula];
  deployed['/reactors'] = [
    ...(deployed['/reactors'] ?? []),
    { id: `r-${name}`, name, formula, ...members },
  ];
}

function writeReactor(slug: string, code: string): void {
  write(`reactors/${slug}/reactor.yaml`, `name: ${slug}\n`);
  write(`reactors/${slug}/code.ts`, code);
}

const mine = 'export default (): number => 1;\n';
const theirs = 'module.exports = () => 2;\n';
const hash = 'a'.repeat(64);

it('a pull whose code cannot be fetched has changed no file', async () => {
  for (const slug of ['charge', 'refund']) writeReactor(slug, mine);
  reactor('charge', { code: theirs });
  reactor('refund', { code_sha256: hash });
  await expect(pull(contextOfAuthor(), { force: true })).rejects.toMatchObject({ status: 404 });
  for (const slug of ['charge', 'refund']) {
    expect(textOf(`reactors/${slug}/code.ts`)).toBe(mine);
    expect(existsSync(fileOf(`reactors/${slug}/code.js`))).toBe(false);
  }
  codes = { [hash]: theirs };
  await pull(contextOfAuthor(), { force: true });
  for (const slug of ['charge', 'refund']) {
    expect(textOf(`reactors/${slug}/code.js`)).toBe(theirs);
    expect(existsSync(fileOf(`reactors/${slug}/code.ts`))).toBe(false);
  }
});

it('code that was never pushed is kept as a copy, and the command says where', async () => {
  writeReactor('charge', mine);
  reactor('charge', { code: theirs });
  await pull(contextOfAuthor(), { force: true });
  expect(textOf('reactors/charge/code.js')).toBe(theirs);
  const [, kept = ''] = /What the files said before is in (\S+)\.\n/.exec(said) ?? [];
  expect(textOf(`${kept}/reactors/charge/code.ts`)).toBe(mine);
  expect(textOf(`${kept}/reactors/charge/reactor.yaml`)).toBe('name: charge\n');
});

it('a pull of names leaves the files of all others as they are', async () => {
  for (const slug of ['charge', 'refund']) {
    writeReactor(slug, mine);
    reactor(slug, { code: theirs });
  }
  await expect(pull(contextOfAuthor(), {}, 'charge', 'none')).rejects.toMatchObject({
    exit: 'usage',
    message: 'There is no "none", neither in the files nor deployed.',
    hint: 'There are: charge, refund',
  });
  await pull(contextOfAuthor(), {}, 'charge');
  expect(said).toContain('`glovebox pull --force charge`');
  await pull(contextOfAuthor(), { force: true }, 'charge');
  expect(existsSync(fileOf('reactors/charge/code.js'))).toBe(true);
  expect(textOf('reactors/refund/code.ts')).toBe(mine);
  expect(existsSync(fileOf('reactors/refund/code.js'))).toBe(false);
});

it('no copy is written through a folder that leads out of the project, and no file is changed', async () => {
  const outside = new AuthorsFolder();
  symlinkSync(outside.path, fileOf('.glovebox'));
  writeReactor('charge', mine);
  reactor('charge', { code: theirs });
  await expect(pull(contextOfAuthor(), { force: true })).rejects.toMatchObject({
    exit: 'usage',
    message: expect.stringContaining('leads out of the folder of the project'),
  });
  expect(textOf('reactors/charge/code.ts')).toBe(mine);
  expect(readdirSync(outside.path)).toEqual([]);
  outside.remove();
});

it.each([
  ['before', ['Hello', 'hello']],
  ['after', ['hello', 'Hello']],
])(
  'a reactor without a slug is pulled beside the one that has its name, listed %s it',
  async (_, names) => {
    for (const name of names) {
      const code = `module.exports = () => '${name}';\n`;
      reactor(name, { code }, name === 'hello' ? { slug: name } : {});
    }
    await pull(contextOfAuthor(), {});
    expect(textOf('reactors/hello/code.js')).toContain("'hello'");
    expect(textOf('reactors/hello-2/code.js')).toContain("'Hello'");
    expect(textOf('reactors/hello-2/reactor.yaml')).toContain('id: r-Hello');
    await pull(contextOfAuthor(), { force: true });
    expect(said).not.toContain('before');
  },
);

it('a reactor whose name was taken by another one meanwhile is not left out', async () => {
  reactor('Hello', { code: theirs }, {});
  await pull(contextOfAuthor(), {});
  expect(textOf('reactors/hello/reactor.yaml')).toContain('id: r-Hello');
  reactor('hello', { code: theirs });
  await pull(contextOfAuthor(), {});
  expect(textOf('reactors/hello-2/reactor.yaml')).toContain('id: r-Hello');
});
