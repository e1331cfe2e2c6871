import {
  startDestination,
  startDnsServer,
  type Destination,
  type DnsServer,
} from '@glovebox/testing';
import { checkArguments } from './reactor-arguments';
import {
  application,
  asApplication,
  caller,
  formula,
  reactor,
  SpecInvocations,
} from './spec-invocations';

let spec: SpecInvocations;
let destination: Destination;
let dns: DnsServer;
let here: string;
const asked: string[] = [];

beforeAll(async () => {
  destination = await startDestination();
  dns = await startDnsServer(({ name }) => {
    asked.push(name);
    return { addresses: ['127.0.0.1'] };
  });
  const { port } = new URL(destination.url);
  here = `http://allowed.test:${port}`;
  spec = await SpecInvocations.open({
    EGRESS_ALLOW: `127.0.0.1:${port}`,
    EGRESS_DNS: dns.address,
  });
});
afterAll(async () => {
  await spec.close();
  await dns.close();
  await destination.close();
});
beforeEach(() => {
  asked.length = 0;
  destination.requests.length = 0;
});

const code = `
  const http = require('http');
  const get = (url) => new Promise((done) => http.get(url, (res) => { res.resume(); done(res.statusCode); }).on('error', (error) => done(error.code)));
  module.exports = async ({ args, svc }) => {
    const before = args.id ? await get(args.other + '/before') : undefined;
    const value = args.id ? (await svc.tokens.retrieve(args.id)).data : args.value;
    const stored = svc ? await svc.tokens.create({ data: value, ...(args.to && { destinations: [args.to] }) }).then(() => 'stored', ({ code }) => code) : undefined;
    return { raw: { before, there: await get(args.here + '/there'), other: await get(args.other + '/' + value), value, stored } };
  };`;
const other = (): string => here.replace('allowed', 'other');
const args = () => ({ here, other: other() });

it('a run whose arguments open a bound token reaches its host alone, and returns what it likes', async () => {
  const id = await spec.storeToken('secret', [here]);
  const ran = await spec.run(code, { args: { ...args(), value: `{{ ${id} }}` } });
  expect(ran).toMatchObject({ raw: { there: 200, other: 'ECONNREFUSED', value: 'secret' } });
  expect(destination.requests.map(({ url }) => url)).toEqual(['/there']);
  expect(asked).not.toContain('other.test');
  const free = await spec.storeToken('plain');
  const next = await spec.run(code, { args: { ...args(), value: `{{ ${free} }}` } });
  expect(next).toMatchObject({ raw: { there: 200, other: 200 } });
});

it('a run that reads a bound token by svc is narrowed from then on, and stores no free copy', async () => {
  const id = await spec.storeToken('secret', [here]);
  const now = { reactor: asApplication, application };
  const ran = await spec.run(code, { now, args: { ...args(), id } });
  expect(ran).toMatchObject({
    raw: {
      ...{ before: 200, there: 200, other: 'ECONNREFUSED', value: 'secret' },
      stored: 'destination_not_allowed',
    },
  });
  const kept = await spec.run(code, { now, args: { ...args(), id, to: `${here}/v1` } });
  expect(kept).toMatchObject({ raw: { stored: 'stored' } });
  expect(destination.requests.map(({ url }) => url)).not.toContain('/secret');
});

it('tokens that allow no common place are refused before the code starts, and when a run is accepted', async () => {
  const [one, another] = await Promise.all([
    spec.storeToken(1, ['a.example']),
    spec.storeToken(2, ['b.example']),
  ]);
  const refused = {
    code: 'destination_not_allowed',
    // In any order.
    detail: expect.stringMatching(new RegExp(`(?=.*${one}).*${another}`)) as string,
  };
  const both = { a: `{{ ${one} }}`, b: `{{ ${another} }}` };
  let isStarted = false;
  const run = spec.run('module.exports = () => ({})', {
    args: both,
    beforeCode: () => Promise.resolve(void (isStarted = true)),
  });
  await expect(run).rejects.toMatchObject(refused);
  expect(isStarted).toBe(false);
  const call = { reactor, formula, caller, args: both, traceId: 'spec' };
  await expect(checkArguments(spec.context, call)).rejects.toMatchObject(refused);
});

it('a token that allows a path alone opens no way for code, which runs all the same', async () => {
  const id = await spec.storeToken('secret', [`${here}/there`]);
  const ran = await spec.run(code, { args: { ...args(), value: `{{ ${id} }}` } });
  expect(ran).toMatchObject({
    raw: { there: 'ECONNREFUSED', other: 'ECONNREFUSED', value: 'secret' },
  });
});

it('what a run returns to be tokenized needs destinations within those that are left', async () => {
  const id = await spec.storeToken('secret', [here]);
  const tokenizing = (token: object) =>
    spec.run(`module.exports = ({ args }) => ({ tokenize: ${JSON.stringify(token)} })`, {
      args: { value: `{{ ${id} }}` },
    });
  await expect(tokenizing({ card: 'x' })).rejects.toMatchObject({
    code: 'destination_not_allowed',
  });
  const bound = { type: 'token', data: 'x', destinations: [`${here}/v1`] };
  expect(await tokenizing({ card: bound })).toMatchObject({ tokens: { card: { data: 'x' } } });
});
