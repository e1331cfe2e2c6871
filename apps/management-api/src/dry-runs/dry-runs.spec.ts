import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { waitFor } from '@glovebox/testing';
import { codeHash } from '../code/code-texts';
import { useTestApi } from '../spec-api';

/** What passes every check is answered with 503, unless the gateway has something to answer. */
const env: Record<string, string> = {};
let answer: Buffer | undefined;
const gateway = createServer((received, response) => {
  received.resume();
  if (answer) response.writeHead(200, { 'Content-Length': answer.length }).end(answer);
  else received.socket.destroy();
});
beforeAll(async () => {
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  env.GATEWAY_URL = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
const api = useTestApi(env);
afterAll(() => {
  gateway.close();
  gateway.closeAllConnections();
});
const code = 'module.exports = () => ({})';
const sent = 503;

const made = async (path: string, body: object): Promise<string> => (await api.made(path, body)).id;
const lines = (operation: string) =>
  api.admin.query(
    `SELECT actor_id, entity_type, entity_id, outcome FROM audit_log WHERE operation = $1 ORDER BY id`,
    [operation],
  );

it('a dry run is recorded before it is carried out', async () => {
  const formula = { id: await made('/reactor-formulas', { name: 'F', code }) };
  const reactor = await made('/reactors', { name: 'R', configuration: {}, formula });
  const proxy = await made('/proxies', { name: 'P', destination_url: 'https://example.com' });
  const answers = [
    await api.post('/reactors/dry-runs', { reactor_id: reactor }),
    await api.post('/proxies/dry-runs', { proxy_id: proxy, request: {} }),
  ];
  for (const { status, body } of answers) {
    expect([status, body]).toMatchObject([sent, { code: 'service_unavailable' }]);
  }
  expect(await lines('reactor.dry_run')).toMatchObject([
    { entity_type: 'reactor', entity_id: reactor, outcome: 'success' },
  ]);
  expect(await lines('proxy.dry_run')).toMatchObject([
    { entity_type: 'proxy', entity_id: proxy, outcome: 'success' },
  ]);
});

describe('POST /reactors/dry-runs', () => {
  const rehearse = (body: object, key?: string) => api.post('/reactors/dry-runs', body, key);

  it.each([
    [
      'no code and no formula',
      {},
      { 'reactor.formula.code': ['is required without a stored formula'] },
    ],
    [
      'a formula that is not there',
      { reactor: { formula: { id: randomUUID() } } },
      { 'reactor.formula.id': ['must be a reactor formula of the tenant'] },
    ],
    [
      'a reactor that is not there',
      { reactor_id: randomUUID() },
      { reactor_id: ['must be a reactor of the tenant'] },
    ],
    [
      'arguments that are none',
      { reactor: { formula: { code } }, args: [1] },
      { args: ['must be an object'] },
    ],
    [
      'a value that the formula does not declare',
      { reactor: { formula: { code }, configuration: { KEY: '1' } } },
      { 'reactor.configuration.KEY': ['is not declared by the formula'] },
    ],
    [
      'a value that the formula declares and nobody gives',
      { reactor: { formula: { code, configuration: [{ name: 'KEY', type: 'string' }] } } },
      { 'reactor.configuration.KEY': ['is required'] },
    ],
    [
      'names that are there twice',
      {
        reactor: {
          formula: { code, request_parameters: [1, 2].map(() => ({ name: 'a', type: 'string' })) },
        },
      },
      { 'reactor.formula.request_parameters.1.name': ['is there twice'] },
    ],
  ])('with %s is refused', async (_, body, errors) => {
    const answer = await rehearse(body);
    expect([answer.status, answer.body]).toMatchObject([400, { errors }]);
  });

  it('with code that does not compile names its line', async () => {
    const answer = await rehearse({ reactor: { formula: { code: 'const a = 1;\nconst = 2;' } } });
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { code: 'invalid_code', position: { line: 2 } },
    ]);
  });

  it('with svc needs token:use and an application', async () => {
    const body = { reactor: { formula: { code } }, svc: true };
    expect((await rehearse(body)).status).toBe(403);
  });

  it('takes a stored formula with other code, and its other members as they are stored', async () => {
    const declared = { configuration: [{ name: 'KEY', type: 'string' }] };
    const id = await made('/reactor-formulas', { name: 'F', code, ...declared });
    const formula = { id, code: 'module.exports = () => ({ raw: 1 })' };
    expect((await rehearse({ reactor: { formula, configuration: { KEY: 'x' } } })).status).toBe(
      sent,
    );
    expect((await rehearse({ reactor: { formula } })).body).toMatchObject({
      errors: { 'reactor.configuration.KEY': ['is required'] },
    });
  });

  it('uses the stored values of a reactor of the tenant alone', async () => {
    const declared = { configuration: [{ name: 'KEY', type: 'string' }] };
    const id = await made('/reactor-formulas', { name: 'F', code, ...declared });
    const reactor = { name: 'R', configuration: { KEY: 'secret' }, formula: { id } };
    const body = { reactor_id: await made('/reactors', reactor) };
    expect((await rehearse(body)).status).toBe(sent);
    expect((await rehearse(body, api.foreign.management_key)).body).toMatchObject({
      errors: { reactor_id: ['must be a reactor of the tenant'] },
    });
  });

  it('takes arguments up to 1 MiB', async () => {
    const body = (length: number) => ({
      reactor: { formula: { code } },
      args: { a: 'x'.repeat(length) },
    });
    const around = JSON.stringify({ a: '' }).length;
    expect((await rehearse(body(1024 * 1024 - around))).status).toBe(sent);
    expect((await rehearse(body(1024 * 1024 - around + 1))).status).toBe(413);
    expect((await rehearse({ ...body(0), more: 'x'.repeat(4 * 1024 * 1024) })).status).toBe(413);
  });
});

describe('a dry run that a debugger sees', () => {
  const inspect = randomUUID();
  const declared = { configuration: [{ name: 'KEY', type: 'string' }] };
  const giveValues = 'is needed: a debugger sees no stored values';

  it('gets no stored configuration', async () => {
    const id = await made('/reactor-formulas', { name: 'F', code, ...declared });
    const stored = { name: 'R', configuration: { KEY: 'secret' }, formula: { id } };
    const body = { reactor_id: await made('/reactors', stored), inspect };
    const refused = await api.post('/reactors/dry-runs', body);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { errors: { 'reactor.configuration': [giveValues] } },
    ]);
    // The code would still get what its formula does not declare any more.
    const undeclared = { ...body, reactor: { formula: { code, configuration: [] } } };
    expect((await api.post('/reactors/dry-runs', undeclared)).status).toBe(400);
    const given = { ...body, reactor: { configuration: { KEY: 'mine' } } };
    expect((await api.post('/reactors/dry-runs', given)).status).toBe(sent);
  });

  it('of a proxy gets no stored configuration, and no stored value of a step', async () => {
    const step = (value: object) => ({
      request_transforms: [
        { type: 'append', options: { location: 'header', name: 'X-Key', ...value } },
      ],
    });
    const destination = { name: 'P', destination_url: 'https://example.com' };
    const proxy_id = await made('/proxies', {
      ...{ ...destination, ...step({ value: 'secret' }) },
      configuration: { KEY: 'secret' },
    });
    const rehearse = (proxy: object) =>
      api.post('/proxies/dry-runs', { proxy_id, request: {}, inspect, proxy });
    const configuration = { KEY: 'mine' };
    expect((await rehearse({})).body).toMatchObject({
      errors: { 'proxy.configuration': [giveValues] },
    });
    const kept = { configuration, ...step({ value_set: true }) };
    expect((await rehearse(kept)).body).toMatchObject({
      errors: { proxy: [`${giveValues}, also those of its steps`] },
    });
    expect((await rehearse({ configuration, ...step({ value: 'mine' }) })).status).toBe(sent);
  });

  it.each(['x', 7, `${inspect}0`])('refuses %j as its session', async (wrong) => {
    const body = { reactor: { formula: { code } }, inspect: wrong };
    expect((await api.post('/reactors/dry-runs', body)).body).toMatchObject({
      errors: { inspect: [expect.any(String)] },
    });
  });
});

it('answers that nobody reads take the share of their tenant, and no more memory', async () => {
  answer = Buffer.alloc(24 * 1024 * 1024, ' ');
  answer.write('{"status":"completed"}');
  const { bufferedBytes } = api.ctx.bodies;
  const half = bufferedBytes.state.places / 2;
  const asked = (key: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = request(`http://127.0.0.1:${api.port}/reactors/dry-runs`, {
        ...{ method: 'POST', agent: false },
        headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
      });
      sent.once('response', resolve).once('error', reject);
      sent.end(JSON.stringify({ reactor: { formula: { code } } }));
    });
  try {
    const mine: IncomingMessage[] = [];
    for (let nth = 0; nth < 8; nth += 1) mine.push(await asked(api.tenant.management_key));
    const statuses = mine.map(({ statusCode }) => statusCode);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    expect(bufferedBytes.heldBy(api.tenant.tenant_id)).toBeLessThanOrEqual(half);
    const other = await asked(api.foreign.management_key);
    expect([other.statusCode, (await text(other)).length]).toEqual([200, answer.length]);
    for (const { socket } of mine) socket.destroy();
    await waitFor(() => bufferedBytes.state.held === 0);
  } finally {
    answer = undefined;
  }
});

describe('POST /proxies/dry-runs', () => {
  const rehearse = (body: object) => api.post('/proxies/dry-runs', { request: {}, ...body });

  it.each([
    ['a proxy that is not there', { proxy_id: randomUUID() }, 'proxy_id'],
    [
      'a forbidden destination',
      { proxy: { destination_url: 'http://169.254.169.254' } },
      'proxy.destination_url',
    ],
    ['a method that is not forwarded', { request: { method: 'TRACE' } }, 'request.method'],
    ['a path with a query', { request: { path: '/a?b' } }, 'request.path'],
    ['headers that cannot be sent', { request: { headers: { 'a b': '1' } } }, 'request.headers'],
    ['a header that is no text', { answer: { headers: { a: { b: 1 } } } }, 'answer.headers'],
    [
      'too many headers',
      { request: { headers: { a: new Array(257).fill('b') } } },
      'request.headers',
    ],
    [
      'headers of too many bytes',
      { request: { headers: { a: 'b'.repeat(32 * 1024) } } },
      'request.headers',
    ],
    ['a body above 1 MiB', { request: { body: 'x'.repeat(1024 * 1024 + 1) } }, 'request.body'],
    ['an interim status', { answer: { status: 101 } }, 'answer.status'],
  ])('with %s is refused', async (_, body, member) => {
    const answer = await rehearse(body);
    expect(answer.status).toBe(400);
    expect(Object.keys((answer.body as { errors: object }).errors)).toEqual([member]);
  });

  it('with a step that is none, or code that does not compile, names it', async () => {
    const step = await rehearse({ proxy: { request_transforms: [{ type: 'nothing' }] } });
    expect(Object.keys((step.body as { errors: object }).errors)[0]).toMatch(
      /^request_transforms\.0/,
    );
    const broken = await rehearse({ proxy: { response_transform: { code: 'const = 1' } } });
    expect([broken.status, broken.body]).toMatchObject([
      422,
      { errors: { 'proxy.response_transform.code': [expect.any(String)] }, position: { line: 1 } },
    ]);
  });

  it('takes a body of 8 MiB', async () => {
    const large = 'x'.repeat(8 * 1024 * 1024);
    expect((await rehearse({ more: large.slice(0, -100) })).status).toBe(sent);
    expect((await rehearse({ more: large })).status).toBe(413);
  });

  it('needs neither name nor destination', async () => {
    expect((await rehearse({ request: { method: 'GET', path: '/a', query: 'b=1' } })).status).toBe(
      sent,
    );
  });
});

describe('a dry run of code that was uploaded', () => {
  const bundle = `module.exports = () => { throw new Error() }; //${'x'.repeat(60_000)}`;
  const sha256 = codeHash(bundle);
  /** Says that column 26 of the first line is line 7, column 3 of the source. */
  const map = JSON.stringify({ version: 3, sources: ['code.ts'], mappings: 'yBAME' });
  const failed = (more: object = {}): Buffer =>
    Buffer.from(
      JSON.stringify({
        status: 'failed',
        error: { ...error, position: place, stack: [place] },
        duration_ms: 1,
        lines: [{ ...line, side: 'response' }],
        ...more,
      }),
    );
  const line = { at: new Date(0).toISOString(), level: 'error', text: 'at reactor.js:1:27' };
  const error = { title: 'Failed', status: 500, code: 'reactor_error', message: 'no' };
  const place = { line: 1, column: 27 };
  const inSource = { line: 7, column: 3, source: 'code.ts' };
  beforeAll(async () => {
    await api.put(`/code/${sha256}`, { code: bundle });
    await api.put(`/code/${sha256}/map`, { map });
  });
  afterEach(() => (answer = undefined));

  it('shows places of its source', async () => {
    answer = failed({ lines: [line] });
    const formula = { id: await made('/reactor-formulas', { name: 'F', code_sha256: sha256 }) };
    const reactor = await made('/reactors', { name: 'R', configuration: {}, formula });
    const shown = await api.post('/reactors/dry-runs', { reactor_id: reactor });
    expect([shown.status, shown.body]).toMatchObject([
      200,
      { error: { position: inSource, stack: [inSource] }, lines: [{ text: 'at code.ts:7:3' }] },
    ]);
  });

  it('shows those of its side of a proxy alone', async () => {
    const transforms = { response_transform: { code_sha256: sha256 } };
    const rehearse = () =>
      api.post('/proxies/dry-runs', { proxy: transforms, request: {}, answer: {} });
    answer = failed({ failed_at: 'answer' });
    expect((await rehearse()).body).toMatchObject({
      ...{ error: { position: inSource }, lines: [{ text: 'at code.ts:7:3', side: 'response' }] },
    });
    answer = failed({
      failed_at: 'request',
      lines: [{ ...line, side: 'request' }],
    });
    expect((await rehearse()).body).toMatchObject({
      ...{ error: { position: place }, lines: [{ text: 'at reactor.js:1:27' }] },
    });
  });

  it('is refused where the text is not there', async () => {
    const none = codeHash('none');
    const reactor = { formula: { code_sha256: none } };
    const answers = [
      await api.post('/reactors/dry-runs', { reactor }),
      await api.post('/proxies/dry-runs', {
        ...{ proxy: { request_transform: { code_sha256: none } }, request: {} },
      }),
    ];
    expect(
      answers.map(({ status, body }) => [status, Object.keys((body as { errors: object }).errors)]),
    ).toEqual([
      [400, ['reactor.formula.code_sha256']],
      [400, ['proxy.request_transform.code_sha256']],
    ]);
  });

  it('may have 1 MiB in the body, and no more', async () => {
    const largest = 'module.exports = () => ({}); //'.padEnd(1024 * 1024, 'x');
    const rehearse = (text: string) =>
      api.post('/reactors/dry-runs', { reactor: { formula: { code: text } } });
    expect((await rehearse(largest)).status).toBe(sent);
    expect((await rehearse(`${largest}x`)).status).toBe(400);
  });
});
