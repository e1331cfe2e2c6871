import { randomUUID } from 'node:crypto';
import { call, create, reactorOf, runningProduct, until, type Answer } from '../product';
import { eachIsTold } from './told';

const product = runningProduct();
const { baseUrl, adminKey, privateKey } = product;

const post = (path: string, body: unknown, key = adminKey): Promise<Answer> =>
  call('POST', `${baseUrl}${path}`, { key, body });

const formula = (more: object): Promise<Answer> =>
  post('/reactor-formulas', {
    name: `mistaken ${randomUUID()}`,
    code: 'module.exports = () => ({})',
    ...more,
  });

const react = (id: string, body: unknown = {}): Promise<Answer> =>
  post(`/reactors/${id}/react`, body, privateKey);

/** Runs this code. */
const ran = async (code: string, body: unknown = {}, more: Record<string, unknown> = {}) =>
  react(await reactorOf(product, code, more), body);

/** Runs this code, and reads what was kept of the run. */
async function lookedInto(code: string, body: unknown = {}): Promise<Answer> {
  const id = await reactorOf(product, code);
  await react(id, body);
  const runs = `${baseUrl}/reactors/${id}/runs`;
  let runId = '';
  await until(async () => {
    const { data } = (await call('GET', runs, { key: adminKey })).body;
    runId = (data as { id: string }[])[0]?.id ?? '';
    return runId !== '';
  });
  return call('GET', `${runs}/${runId}`, { key: adminKey });
}

const amount = { request_parameters: [{ name: 'amount', type: 'number' }] };
const returns = 'module.exports = () => ({ raw: 1 })';

describe('a mistake in code is told when it is written:', () => {
  eachIsTold([
    {
      mistake: 'a brace that is missing',
      make: () => formula({ code: 'module.exports = () => {\n  return {;\n}' }),
      ...{ status: 422, says: /line 2: Unexpected token.*"position":\{"line":2,"column":11\}/ },
    },
    {
      mistake: 'import',
      make: () => formula({ code: `import axios from 'axios';` }),
      ...{ status: 422, says: /Cannot use import statement .*Use module\.exports \/ require\./ },
    },
    {
      mistake: 'export',
      make: () => formula({ code: 'export default () => 1;' }),
      ...{ status: 422, says: /Unexpected token 'export'\. Use module\.exports \/ require\./ },
    },
    {
      mistake: 'a package that no runner has',
      make: () => formula({ code: `const _ = require('lodash'); ${returns}` }),
      status: 422,
      says: /Packages that are: axios, .*docs\/guide\/code\.md#form.*Module 'lodash' is not available/,
    },
  ]);
});

describe('a mistake in code is told when it runs:', () => {
  eachIsTold([
    {
      mistake: 'a package whose name is computed',
      make: () => ran(`const _ = require('lo' + 'dash'); ${returns}`),
      ...{ status: 422, says: /Module 'lodash' is not available\. Packages that are: axios, / },
    },
    {
      mistake: 'no function',
      make: () => ran('exports.handler = () => 1'),
      ...{ status: 422, says: /does not export a function \(module\.exports = …\)/ },
    },
    {
      mistake: 'a member of nothing',
      make: () => ran('module.exports = ({ args }) => {\n  return { raw: args.card.number };\n}'),
      status: 500,
      says: /Cannot read properties of undefined \(reading 'number'\).*"line":2,"column":27/,
    },
    {
      mistake: 'a result outside of raw',
      make: () => lookedInto('module.exports = () => ({ id: 1, status: 2 })'),
      ...{ status: 200, says: /"level":"warn","text":"id, status were dropped: return raw"/ },
    },
    {
      mistake: 'fetch on the default runtime',
      make: () => ran(`module.exports = () => fetch('https://a.example')`),
      ...{ status: 500, says: /fetch needs runtime node20 or newer\..*fetch is not defined/ },
    },
    {
      mistake: 'structuredClone on the default runtime',
      make: () => ran(`module.exports = () => ({ raw: structuredClone({}) })`),
      ...{ status: 500, says: /structuredClone needs runtime node20 or newer\./ },
    },
    {
      mistake: 'svc without an application',
      make: () => ran('module.exports = ({ svc }) => svc.tokens.retrieve("a")'),
      ...{ status: 500, says: /svc is null: the reactor has no application\..*reading 'tokens'/ },
    },
    {
      mistake: 'import() while it runs',
      make: () => ran(`module.exports = () => import('axios')`),
      ...{ status: 500, says: /import\(\) is not available\. Use require\./ },
    },
    {
      mistake: 'an endless loop',
      make: () => ran('module.exports = () => { for (;;); }'),
      ...{ status: 504, says: /ran longer than 10 s; with callback_url up to 210 s/ },
    },
    ...['node16', 'node20'].map((runtime) => ({
      mistake: `a list without end, on ${runtime}`,
      make: () =>
        ran(
          `module.exports = () => { for (const a = [];;) a.push(Array(1e5).fill(1)) }`,
          {},
          { runtime },
        ),
      ...{ status: 500, says: /reactor_crashed.*used more than 384 MB/ },
    })),
    {
      mistake: 'process.exit',
      make: () => ran('module.exports = () => process.exit(1)'),
      ...{ status: 500, says: /process\.exit is not available/ },
    },
    {
      mistake: 'an error that only the caller saw',
      make: () =>
        lookedInto(
          `function charge() { throw new Error('declined: ' + [1, 2].join(' of ')) }\nmodule.exports = () => charge();`,
        ),
      status: 200,
      says: /"message":"declined: 1 of 2","stack":\[\{"function":"charge","line":1,"column":27\},\{"function":"module\.exports","line":2/,
    },
    {
      mistake: 'a count in a log',
      make: () =>
        lookedInto(
          'module.exports = ({ args }) => { console.log(`attempt ${args.attempt} of ${args.of}`); return {} }',
          { args: { attempt: 2, of: 5 } },
        ),
      ...{ status: 200, says: /"text":"attempt 2 of 5"/ },
    },
  ]);
});

describe('a mistake about a formula, a reactor or its arguments is told:', () => {
  const withAmount = (): Promise<string> => reactorOf(product, returns, amount);
  eachIsTold([
    {
      mistake: 'a type of parameter that is none',
      make: () => formula({ request_parameters: [{ name: 'a', type: 'text' }] }),
      status: 400,
      says: /"request_parameters\.0\.type":\["must be string, boolean, number or object"\]/,
    },
    {
      mistake: 'a runtime that is none',
      make: () => formula({ runtime: 'node18' }),
      ...{ status: 400, says: /"runtime":\["must be node16, node20, node22 or node24"\]/ },
    },
    {
      mistake: 'a reactor of a formula that is none',
      make: () =>
        post('/reactors', { name: 'r', configuration: {}, formula: { id: randomUUID() } }),
      ...{ status: 400, says: /"formula\.id":\[/ },
    },
    {
      mistake: 'a configuration that lacks what its formula names',
      make: async () => {
        const { id } = await create(product, '/reactor-formulas', {
          ...{ name: `configured ${randomUUID()}`, code: returns },
          configuration: [{ name: 'API_KEY', type: 'string' }],
        });
        return post('/reactors', { name: 'r', configuration: {}, formula: { id } });
      },
      ...{ status: 400, says: /"configuration\.API_KEY":\["is required"\]/ },
    },
    {
      mistake: 'an argument of another type',
      make: async () => react(await withAmount(), { args: { amount: 'much' } }),
      ...{ status: 400, says: /"args\.amount":\["must be a number"\]/ },
    },
    {
      mistake: 'an argument that is missing',
      make: async () => react(await withAmount(), { args: {} }),
      ...{ status: 400, says: /"args\.amount":\["is required"\]/ },
    },
    {
      mistake: 'arguments beside args',
      make: async () => react(await withAmount(), { amount: 5 }),
      ...{ status: 400, says: /"args\.amount":\["is required"\]/ },
    },
  ]);
});
