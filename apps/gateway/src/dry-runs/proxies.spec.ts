import type { Principal } from '@glovebox/access';
import type { ProxyDefinition } from '@glovebox/definitions';
import { waitFor, type Destination } from '@glovebox/testing';
import type { SpecGateway } from '../spec-gateway';
import { startDryRuns, type SpecOrders } from './spec-dry-runs';

const card = '4539578763621486';
const json = ['Content-Type', 'application/json'];

let dryRuns: Awaited<ReturnType<typeof startDryRuns>>;
let destination: Destination;
let gateway: SpecGateway;
let orders: SpecOrders;
let author: Principal;
let user: Principal;

beforeAll(async () => {
  dryRuns = await startDryRuns('proxy:update');
  ({ destination, gateway, orders, author, user } = dryRuns);
});
afterAll(() => dryRuns.close());

const code = (text: string): NonNullable<ProxyDefinition['requestTransform']> => ({
  code: `module.exports = async ({ args, svc, configuration }) => { ${text} }`,
  ...{ codeHash: text, runtime: 'node20' },
});

type Order = Parameters<SpecOrders['proxy']>;

async function rehearse(
  caller: Principal,
  changes: Order[1],
  messages: Order[2] = {},
): Promise<Record<string, unknown>> {
  const answer = await orders.send(orders.proxy(caller, changes, messages));
  expect(answer.status).toBe(200);
  return answer.json;
}

it('a dry run shows the request as it would leave and the answer as its caller would get it', async () => {
  const shown = await rehearse(
    author,
    {
      destinationUrl: `${destination.url}/base?own=1`,
      requestSteps: [
        { type: 'append', options: { location: 'header', name: 'X-Step', value: 'stepped' } },
        { type: 'remove', options: { location: 'body', path: '$.inner' } },
      ],
      requestTransform: code(
        `console.log('out'); return { headers: args.headers, body: { ...args.body, coded: true } }`,
      ),
      responseTransform: code(
        `console.log('back'); return { status: 201, body: { got: args.body.id } }`,
      ),
      responseSteps: [
        { type: 'append', options: { location: 'header', name: 'X-Back', value: 'stepped' } },
      ],
    },
    {
      request: {
        ...{ suffix: '/charges', query: 'a=b', body: '{"amount":1,"inner":2}' },
        headers: [...json, 'X-Mine', '1', 'X-Mine', '2', 'SVC-API-KEY', 'key', 'Host', 'other'],
      },
      answer: { status: 200, headers: json, body: '{"id":"ch_1","rest":true}' },
    },
  );
  expect(shown).toMatchObject({
    status: 'completed',
    request: {
      method: 'POST',
      url: `${destination.url}/base/charges?own=1&a=b`,
      headers: { 'x-mine': '1, 2', 'x-step': 'stepped' },
    },
    answer: { status: 201, headers: { 'x-back': 'stepped' } },
    lines: [
      { side: 'request', level: 'info', text: 'out' },
      { side: 'response', level: 'info', text: 'back' },
    ],
  });
  const { request, answer } = shown as Record<'request' | 'answer', Record<string, unknown>>;
  expect(JSON.parse(String(request.body))).toEqual({ amount: 1, coded: true });
  expect(JSON.parse(String(answer.body))).toEqual({ got: 'ch_1' });
  expect(Object.keys(request.headers as object)).not.toContain('svc-api-key');
  expect(destination.requests).toEqual([]);
});

it('a request and an answer that nothing changes are shown as they came', async () => {
  const request = { method: 'PUT', headers: ['X-A', '1'], body: 'any text' };
  const answer = { status: 404, headers: ['X-B', '2'], body: 'not there' };
  expect(await rehearse(author, {}, { request, answer })).toMatchObject({
    request: { method: 'PUT', headers: { 'x-a': '1' }, body: 'any text' },
    answer: { status: 404, headers: { 'x-b': '2' }, body: 'not there' },
  });
});

describe('expressions', () => {
  it('stay as they are for a caller that may not use tokens', async () => {
    const id = await gateway.token(card);
    const request = { suffix: `/{{${id}}}`, headers: json, body: `{"card":"{{ ${id} }}"}` };
    expect(await rehearse(author, {}, { request })).toMatchObject({
      request: {
        url: `https://destination.example/base/{{${id}}}`,
        body: `{"card":"{{ ${id} }}"}`,
      },
    });
    expect(await gateway.uses(id)).toEqual([]);
  });

  it.each([
    ['without code', {}],
    ['with code', { requestTransform: code('console.log(args.body.card); return args') }],
    [
      'with steps',
      { requestSteps: [{ type: 'remove', options: { location: 'body', path: '$.none' } }] },
    ],
  ])('are filled in %s for one that may, recorded, and not shown', async (_, changes) => {
    const id = await gateway.token(card);
    const request = {
      ...{ suffix: `/{{${id}}}`, query: `q={{${id}}}` },
      headers: [...json, 'X-Card', `{{${id}}}`],
      body: `{"card":"{{ ${id} }}","last":"{{ ${id} | last4 }}"}`,
    };
    const shown = await rehearse(user, changes as Order[1], { request });
    expect(shown).toMatchObject({
      status: 'completed',
      request: {
        url: 'https://destination.example/base/[redacted]?q=[redacted]',
        headers: { 'x-card': '[redacted]' },
        body: '{"card":"[redacted]","last":"1486"}',
      },
    });
    expect(JSON.stringify(shown)).not.toContain(card);
    expect(await gateway.uses(id)).toMatchObject([{ operation: 'proxy.dry_run' }]);
  });

  it('that are wrong fail the request', async () => {
    const id = await gateway.token(card);
    const request = { headers: json, body: `{"card":"{{ ${id} | nothing }}"}` };
    expect(await rehearse(user, {}, { request })).toMatchObject({
      ...{ status: 'failed', failed_at: 'request' },
      error: { code: 'invalid_expression' },
    });
  });
});

describe('an error', () => {
  it('of a step names the step', async () => {
    const requestSteps: ProxyDefinition['requestSteps'] = [
      { type: 'append', options: { location: 'header', name: 'X-A', value: 'a' } },
      { type: 'remove', options: { location: 'body', path: '$.card', required: true } },
    ];
    const request = { headers: json, body: '{}' };
    expect(await rehearse(author, { requestSteps }, { request })).toMatchObject({
      ...{ status: 'failed', failed_at: 'request' },
      error: {
        cause: {
          phase: 'transform',
          reason: expect.stringContaining('request_transforms.1') as string,
        },
      },
    });
  });

  it.each([
    ['request', 'requestTransform', 'request'],
    ['response', 'responseTransform', 'answer'],
  ] as const)(
    'of the code of a %s names its line, beside the lines that it wrote',
    async (side, member, failedAt) => {
      const transform = code(
        `console.log('begun');\nconst none = undefined;\nnone.call(); return args`,
      );
      const messages = {
        request: { headers: json, body: '{}' },
        answer: { status: 200, headers: json, body: '{}' },
      };
      expect(await rehearse(author, { [member]: transform }, messages)).toMatchObject({
        ...{ status: 'failed', failed_at: failedAt },
        error: {
          code: 'reactor_error',
          position: { line: 3 },
          stack: [{ line: 3 }],
          message: expect.stringContaining('undefined') as string,
          cause: { phase: 'transform', reason: `the ${side} transform threw` },
        },
        lines: [{ side, text: 'begun' }],
      });
    },
  );
});

it('an answer that code throws is shown in place of a request', async () => {
  const requestTransform = code(
    `throw Object.assign(new Error(), { name: 'CustomHttpResponseError', status: 402, body: { declined: true } })`,
  );
  const shown = await rehearse(
    author,
    { requestTransform },
    { request: { headers: json, body: '{}' } },
  );
  expect(shown).toMatchObject({ status: 'completed', answer: { status: 402 } });
  expect(shown).not.toHaveProperty('request');
});

it('code of a proxy has neither network nor svc, whatever its application may do', async () => {
  const { id: applicationId } = await gateway.revocable(['token:read']);
  const requestTransform = code(
    `const reached = await new Promise((done) => require('http').get(args.body.url, () => done(true)).on('error', (error) => done(error.code)));
     return { body: { svc, reached } }`,
  );
  const request = { headers: json, body: JSON.stringify({ url: destination.url }) };
  const shown = await rehearse(user, { requestTransform, applicationId }, { request });
  const { body } = shown.request as { body: string };
  expect(JSON.parse(body)).toEqual({ svc: null, reached: 'ENETDOWN' });
  expect(destination.requests).toEqual([]);
});

it('steps show where a new token would be, and store none', async () => {
  const responseSteps: ProxyDefinition['responseSteps'] = [
    { type: 'tokenize', options: { path: '$.card', token: { type: 'token' } } },
  ];
  const answer = { status: 200, headers: json, body: `{"card":"${card}"}` };
  const tokens = (await gateway.asAdmin('SELECT id FROM tokens')).length;
  const shown = await rehearse(author, { responseSteps }, { answer });
  expect(shown).toMatchObject({ answer: { body: '{"card":"new-token"}' } });
  expect(await gateway.asAdmin('SELECT id FROM tokens')).toHaveLength(tokens);
});

it('code gets the stored configuration of the proxy that is named, and nothing shows it', async () => {
  const secret = 'sk_live_very_secret';
  const { id } = await gateway.changeableProxy(destination.url, { configuration: { KEY: secret } });
  const requestTransform = code(
    `console.log(configuration.KEY); return { headers: { authorization: configuration.KEY }, body: { n: configuration.KEY.length } }`,
  );
  const request = { headers: json, body: '{}' };
  const shown = await rehearse(author, { requestTransform }, { request, configurationOf: id });
  expect(shown).toMatchObject({
    request: { headers: { authorization: '[redacted]' }, body: `{"n":${secret.length}}` },
  });
  expect(JSON.stringify(shown)).not.toContain(secret);
});

it('steps append the stored values that the order keeps, and nothing shows them', async () => {
  const [secret, other] = ['step_live_very_secret', 'step_live_of_the_body'];
  const append = (value: string): ProxyDefinition['requestSteps'] => [
    { type: 'append', options: { location: 'header', name: 'X-Key', value } },
  ];
  const inBody = (value: unknown): ProxyDefinition['requestSteps'] => [
    { type: 'append', options: { location: 'body', path: '$.key', value } },
  ];
  const { id } = await gateway.changeableProxy(destination.url, {
    requestSteps: [...inBody({ deep: other }), ...append(secret)],
  });
  const changes: Order[1] = {
    id,
    requestSteps: [...append(''), ...inBody('')],
    requestTransform: code(`console.log(args.headers['X-Key'], args.body.key.deep); return args`),
  };
  const kept = [
    { side: 'requestSteps', at: 0, from: 1 },
    { side: 'requestSteps', at: 1, from: 0 },
  ] as const;
  const request = { headers: json, body: '{}' };
  const shown = await rehearse(author, changes, { request, kept });
  expect(shown).toMatchObject({
    status: 'completed',
    request: { headers: { 'x-key': '[redacted]' }, body: '{"key":{"deep":"[redacted]"}}' },
    lines: [{ text: '[redacted] [redacted]' }],
  });
  for (const each of [secret, other]) expect(JSON.stringify(shown)).not.toContain(each);
  const moved = orders.proxy(author, changes, {
    ...{ request, kept: [{ side: 'requestSteps', at: 0, from: 0 }] },
  });
  expect(await orders.send(moved)).toMatchObject({
    status: 409,
    json: { code: 'changed_meanwhile' },
  });
});

it('a body beyond what is shown is cut, and says how long it is', async () => {
  const requestTransform = code(`return { body: 'x'.repeat(3 * 1024 * 1024) }`);
  const request = { headers: json, body: '{}' };
  const { request: shown } = await rehearse(author, { requestTransform }, { request });
  expect(shown).toMatchObject({ body_bytes: 3 * 1024 * 1024 });
  expect((shown as { body: string }).body.length).toBe(1024 * 1024);
});

it('no dry run of a proxy is in the log of runs', async () => {
  const requestTransform = code('return { body: {} }');
  await rehearse(author, { requestTransform }, { request: { headers: json, body: '{}' } });
  const { key, id } = await gateway.changeableProxy(destination.url, { requestTransform });
  const headers = { 'SVC-API-KEY': await gateway.application(['token:use']), 'SVC-PROXY-KEY': key };
  await fetch(`${gateway.url}/proxy`, { headers });
  const logged = await waitFor(async () => {
    const runs = await gateway.asAdmin('SELECT resource_id AS id FROM ended_runs');
    if (runs.length === 0) throw new Error('not written yet');
    return runs;
  });
  expect(logged).toEqual([{ id }]);
});
