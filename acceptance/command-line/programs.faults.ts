import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, reactorOf, runningProduct } from '../product';
import { PackedCli } from './packed';

jest.setTimeout(120_000);

const product = runningProduct();

const errorsOf = "const e = require('@svc/reactor-errors');";

/** Ways in which code ends, by a name for each. */
const programs: Readonly<Record<string, string>> = {
  returns: 'module.exports = ({ args }) => ({ raw: { sum: args.a + args.b } });',
  nothing: 'module.exports = () => undefined;',
  promise: 'module.exports = async () => ({ raw: [1, null, "x"] });',
  throws: 'module.exports = () => { throw new Error("boom"); };',
  rejects: 'module.exports = async () => { throw new TypeError("later"); };',
  text: 'module.exports = () => { throw "a text"; };',
  bad: `${errorsOf} module.exports = () => { throw new e.BadRequestError({ a: 'wrong' }); };`,
  denied: `${errorsOf} module.exports = () => { throw new e.AuthorizationError('no'); };`,
  custom: `${errorsOf} module.exports = () => { throw new e.CustomHttpResponseError({ status: 418, body: { tea: true } }); };`,
  noFunction: 'module.exports = { a: 1 };',
  list: 'module.exports = () => [1];',
  cycle: 'module.exports = () => { const a = {}; a.a = a; return { raw: a }; };',
  missing: 'module.exports = () => { require(["left", "pad"].join("-")); };',
  exits: 'module.exports = () => process.exit(1);',
  memory: 'module.exports = () => { const all = []; for (;;) all.push(Buffer.alloc(5e7, 1)); };',
  endless: 'module.exports = () => { for (;;); };',
  network: `module.exports = async () => {
    const get = (url) => fetch(url).then(() => 'answered', ({ cause }) => cause.code);
    return { raw: [await get('http://169.254.169.254/'), await get('https://name.invalid/')] };
  };`,
  svc: 'module.exports = ({ svc }) => ({ raw: svc });',
  noSvc: 'module.exports = ({ svc }) => svc.tokens.retrieve("x");',
  environment: 'module.exports = () => ({ raw: { ...process.env } });',
};
const names = Object.keys(programs);
/** The runner has places for a few: a program that finds none is told so, and says nothing of its end. */
const atATime = 4;
const args = { a: 1, b: 41 };

interface End {
  readonly result?: unknown;
  readonly status?: number;
  readonly code?: string;
  readonly errors?: unknown;
}

let cli: PackedCli;
beforeAll(async () => {
  cli = new PackedCli();
  await cli.succeed(['init']);
});
afterAll(() => cli.remove());

/** How each program ends in `glovebox test`. */
async function inTests(): Promise<Record<string, End>> {
  for (const [name, code] of Object.entries(programs)) {
    const folder = join(cli.cwd, 'reactors', name.toLowerCase());
    mkdirSync(folder);
    writeFileSync(join(folder, 'reactor.yaml'), `name: ${name}\nruntime: node24\n`);
    writeFileSync(join(folder, 'code.js'), code);
  }
  const file = join(cli.cwd, 'ends.json');
  writeFileSync(
    join(cli.cwd, 'tests', 'programs.test.ts'),
    `import { writeFileSync } from 'node:fs';
     import { test } from 'node:test';
     import { reactor } from '@glovebox/testing';
     test('programs', async () => {
       const ends = {};
       const waiting = ${JSON.stringify(names)}.values();
       const runSome = async () => {
         for (const name of waiting) {
           const run = reactor(name.toLowerCase(), { network: true });
           ends[name] = await run(${JSON.stringify(args)}).then(
             ({ result }) => ({ result }),
             ({ status, code, errors }) => ({ status, code, errors }));
         }
       };
       await Promise.all(Array.from({ length: ${atATime} }, runSome));
       writeFileSync(${JSON.stringify(file)}, JSON.stringify(ends));
     });`,
  );
  const env = { GLOVEBOX_URL: product.baseUrl, GLOVEBOX_KEY: product.adminKey };
  await cli.succeed(['test', 'tests/programs.test.ts'], { env });
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, End>;
}

/** How each ends for a caller of the product. */
async function inProduct(): Promise<Record<string, End>> {
  const ends: Record<string, End> = {};
  const waiting = Object.entries(programs).values();
  const callSome = async (): Promise<void> => {
    for (const [name, code] of waiting) ends[name] = await endOf(code);
  };
  await Promise.all(Array.from({ length: atATime }, callSome));
  return ends;
}

async function endOf(code: string): Promise<End> {
  const id = await reactorOf(product, code, { runtime: 'node24' });
  const url = `${product.baseUrl}/reactors/${id}/react`;
  const answer = await call('POST', url, { key: product.privateKey, body: { args } });
  if (answer.status === 200) return { result: answer.body };
  const { code: name, errors } = answer.body as End;
  return { status: answer.status, ...(name ? { code: name } : {}), ...(errors ? { errors } : {}) };
}

it('twenty programs end in `glovebox test` as they end in the product', async () => {
  const tried = await inTests();
  expect(Object.keys(tried)).toHaveLength(20);
  expect(tried).toEqual(await inProduct());
});
