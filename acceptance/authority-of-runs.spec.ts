import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { call, create, runningProduct, until, type Answer } from './product';

const product = runningProduct();
const { baseUrl, adminKey } = product;

/** Waits until it may go on, then reports the answer to each of its calls. */
const code = `
const http = require('http');
module.exports = async ({ args, configuration, applicationOptions, ...rest }) => {
  const req = { args, ...rest };
  await new Promise((resolve, reject) => {
    http.get(args.gate, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
  if (args.returns) return { raw: {}, tokenize: { a: 'returned' } };
  const svc = rest.svc;
  const statusOf = (answer) => answer.then(() => 200, (error) => error.status);
  return {
    raw: {
      tokenize: await statusOf(svc.tokenize('x')),
      detokenize: await statusOf(svc.detokenize('{{ ' + args.id + ' }}')),
      create: await statusOf(svc.tokens.create({ data: 'x' })),
      retrieve: await statusOf(svc.tokens.retrieve(args.id)),
      list: await statusOf(svc.tokens.list({})),
      update: await statusOf(svc.tokens.update(args.id, { metadata: { a: 'b' } })),
      delete: await statusOf(svc.tokens.delete(args.id)),
    },
  };
};`;

const everything = {
  description: 'all',
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: ['token:create', 'token:read', 'token:update', 'token:delete'],
};
let formulaId: string;
let gate: Awaited<ReturnType<typeof startGate>>;

/** Requests here wait until the spec releases them; webhooks are answered at once. */
async function startGate() {
  const waiting = new Map<string, ServerResponse>();
  const webhooks: string[] = [];
  const server = createServer((req, res) => {
    const body: Buffer[] = [];
    req.on('data', (chunk: Buffer) => body.push(chunk));
    req.on('end', () => {
      if (req.method === 'GET') return void waiting.set(req.url ?? '', res);
      webhooks.push(Buffer.concat(body).toString());
      res.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    webhooks,
    waiting,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

beforeAll(async () => {
  gate = await startGate();
  const formula = { type: 'private', name: 'authority', code };
  formulaId = (await create(product, '/reactor-formulas', formula)).id;
});
afterAll(() => gate.close());

interface Parties {
  readonly reactor: string;
  /** The application that the code acts as. */
  readonly application: string;
  readonly caller: string;
  readonly callerKey: string;
}

async function parties(): Promise<Parties> {
  const application = await create(product, '/applications', {
    name: 'code',
    type: 'private',
    rules: [everything],
  });
  const caller = await create(product, '/applications', {
    name: 'caller',
    type: 'private',
    permissions: ['token:use', 'token:create'],
  });
  const reactor = await create(product, '/reactors', {
    name: 'authority',
    configuration: {},
    formula: { id: formulaId },
    application: { id: application.id },
  });
  return {
    reactor: reactor.id,
    application: application.id,
    caller: caller.id,
    callerKey: String(caller.key),
  };
}

async function change(method: string, path: string, body?: unknown): Promise<void> {
  const headers = method === 'PATCH' ? { 'Content-Type': 'application/merge-patch+json' } : {};
  const answer = await call(method, `${baseUrl}${path}`, { key: adminKey, body, headers });
  expect([answer.status, answer.text]).toEqual([204, '']);
}

async function deleteKeyOf(id: string): Promise<void> {
  const keys = await call('GET', `${baseUrl}/applications/${id}/keys`, { key: adminKey });
  const [key] = JSON.parse(keys.text) as { id: string }[];
  await change('DELETE', `/applications/${id}/keys/${key?.id}`);
}

const changes: [string, number, (parties: Parties) => Promise<void>][] = [
  [
    'its application may do nothing any more',
    403,
    ({ application }) =>
      change('PATCH', `/applications/${application}`, { permissions: ['token:use'], rules: [] }),
  ],
  [
    'its application was deleted',
    409,
    ({ application }) => change('DELETE', `/applications/${application}?force=true`),
  ],
  ['its reactor was deleted', 409, ({ reactor }) => change('DELETE', `/reactors/${reactor}`)],
  [
    'its reactor has no application any more',
    409,
    ({ reactor }) => change('PATCH', `/reactors/${reactor}`, { application: null }),
  ],
  ['its caller was deleted', 401, ({ caller }) => change('DELETE', `/applications/${caller}`)],
  ['the key of its caller was deleted', 401, ({ caller }) => deleteKeyOf(caller)],
  [
    'its caller may invoke nothing any more',
    403,
    ({ caller }) => change('PATCH', `/applications/${caller}`, { permissions: ['token:create'] }),
  ],
];

const everyCall = (status: number): Record<string, number> =>
  Object.fromEntries(
    ['tokenize', 'detokenize', 'create', 'retrieve', 'list', 'update', 'delete'].map((name) => [
      name,
      status,
    ]),
  );

/** Starts a run and returns its answer once the code has gone on. */
async function run(
  { reactor, callerKey }: Parties,
  meanwhile: () => Promise<void>,
  args: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Promise<Answer> {
  const path = `/${randomUUID()}`;
  const answering = call('POST', `${baseUrl}/reactors/${reactor}/react`, {
    key: callerKey,
    body: { args: { gate: `${gate.url}${path}`, ...args }, ...more },
  });
  await until(() => Promise.resolve(gate.waiting.has(path)));
  await meanwhile();
  gate.waiting.get(path)?.end();
  return answering;
}

const newToken = async (): Promise<string> =>
  (await create(product, '/tokens', { data: 'x' }, product.privateKey)).id;

it('code may make the calls that its application may make, while nothing changes', async () => {
  const all = await parties();
  const answer = await run(all, () => Promise.resolve(), { id: await newToken() });
  expect([answer.status, answer.body]).toEqual([200, { raw: everyCall(200) }]);
});

describe('a change while code runs', () => {
  it.each(changes)(
    '%s: the run ends as before, and each of its calls is answered with %d',
    async (...row) => {
      const [, status, happens] = row;
      const all = await parties();
      const answer = await run(all, () => happens(all), { id: await newToken() });
      expect([answer.status, answer.body]).toEqual([200, { raw: everyCall(status) }]);
    },
  );

  it.each(changes)('%s: each call of an async run is answered with %d, too', async (...row) => {
    const [, status, happens] = row;
    const all = await parties();
    gate.webhooks.length = 0;
    const args = { id: await newToken() };
    const accepted = await run(all, () => happens(all), args, { callback_url: gate.url });
    expect(accepted.status).toBe(202);
    await until(() => Promise.resolve(gate.webhooks.length === 1));
    expect(JSON.parse(gate.webhooks[0] ?? '')).toEqual({ raw: everyCall(status) });
  });

  it.each(changes.slice(0, 2))(
    '%s: what it returns to be tokenized is refused with %d',
    async (...row) => {
      const [, status, happens] = row;
      const all = await parties();
      const answer = await run(all, () => happens(all), { returns: true });
      expect(answer.status).toBe(status);
    },
  );
});
