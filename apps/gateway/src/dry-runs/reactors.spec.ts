import { randomUUID } from 'node:crypto';
import { personPrincipal, type Principal } from '@glovebox/access';
import { writeOrder } from '@glovebox/dry-runs';
import { waitFor, type Destination } from '@glovebox/testing';
import type { SpecGateway } from '../spec-gateway';
import { startDryRuns, type SpecOrders } from './spec-dry-runs';

const card = '4539578763621486';

let dryRuns: Awaited<ReturnType<typeof startDryRuns>>;
let destination: Destination;
let gateway: SpecGateway;
let orders: SpecOrders;
let author: Principal;
let user: Principal;

beforeAll(async () => {
  dryRuns = await startDryRuns('reactor:update');
  ({ destination, gateway, orders, author, user } = dryRuns);
});
afterAll(() => dryRuns.close());

it('a dry run answers what the code returned and wrote', async () => {
  const code = `module.exports = ({ args }) => {
    console.log('sum of', args.list.length);
    return { raw: { sum: args.list.reduce((a, b) => a + b), plain: args.plain }, other: 1 };
  };`;
  const args = { list: [1, 2, 39], plain: 'a text that the caller sent' };
  const { status, json } = await orders.send(orders.reactor(author, code, { args }));
  expect([status, json.status]).toEqual([200, 'completed']);
  expect(json.result).toEqual({
    raw: { sum: 42, plain: 'a text that the caller sent' },
    other: 1,
  });
  expect(json.lines).toEqual([
    { at: expect.any(String) as string, level: 'info', text: 'sum of 3' },
    expect.objectContaining({ level: 'warn', text: 'other was dropped: return raw' }),
  ]);
  expect(json.duration_ms).toBeGreaterThanOrEqual(0);
});

it('a dry run that fails says where, why and by which calls', async () => {
  const code = `const check = (card) => {
  if (!card) throw new Error('no card');
};
module.exports = ({ args }) => { console.log('begun'); check(args.card); return {}; };`;
  const { status, json } = await orders.send(orders.reactor(author, code));
  expect([status, json.status]).toEqual([200, 'failed']);
  expect(json).toMatchObject({
    error: {
      ...{ code: 'reactor_error', status: 500, message: 'no card' },
      position: { line: 2, column: expect.any(Number) as number },
      stack: [{ function: 'check', line: 2 }, { line: 4 }],
    },
    lines: [{ text: 'begun' }],
  });
});

it.each([
  ['spins', 'while (true) {}', 'reactor_timeout'],
  ['never returns', 'return new Promise(() => {})', 'reactor_timeout'],
  [
    'takes all memory',
    'const all = []; while (true) all.push(new Array(1e6).fill(1))',
    'reactor_crashed',
  ],
])('code that %s ends its own dry run alone', async (_, text, error) => {
  const order = orders.reactor(author, `module.exports = () => { ${text} }`);
  const { status, json } = await orders.send(order);
  expect([status, json]).toMatchObject([200, { status: 'failed', error: { code: error } }]);
});

it('code that floods its console is cut at the limit of a run', async () => {
  const code = `module.exports = () => { for (let n = 0; n < 100_000; n += 1) console.log('x'.repeat(100)); return {}; }`;
  const { json } = await orders.send(orders.reactor(author, code));
  expect((json.lines as unknown[]).length).toBe(200);
});

describe('without ticks', () => {
  it('code reaches nothing, and has no svc', async () => {
    const before = destination.requests.length;
    const code = `const http = require('http');
      const get = (url) => new Promise((done) => http.get(url, () => done('reached')).on('error', (error) => done(error.code)));
      module.exports = async ({ args, svc }) => ({
        raw: { svc, reached: await get(args.url), asked: await svc?.detokenize?.({}) ?? null } })`;
    const args = { url: destination.url };
    const { json } = await orders.send(orders.reactor(author, code, { args }));
    expect(json.result).toEqual({ raw: { svc: null, reached: 'ENETDOWN', asked: null } });
    expect(destination.requests.length).toBe(before);
    const ticked = await orders.send(orders.reactor(author, code, { args, network: true }));
    expect(ticked.json.result).toMatchObject({ raw: { reached: 'reached' } });
  });

  it('what the code would tokenize is shown and not stored', async () => {
    const code = `module.exports = () => ({ tokenize: { type: 'token', data: 'to be stored' } })`;
    const creator = await orders.caller(['reactor:update', 'token:create']);
    const { json } = await orders.send(orders.reactor(creator, code));
    expect(json.result).toEqual({ tokenize: { type: 'token', data: 'to be stored' } });
    expect(await gateway.asAdmin('SELECT id FROM tokens')).toEqual([]);
  });
});

describe('tokens in arguments', () => {
  const code = `module.exports = ({ args }) => {
    console.log(args.card);
    return { raw: { card: args.card, number: Number(args.card), coded: Buffer.from(args.card).toString('base64'), [args.card]: 1, last: args.card.slice(-4) } };
  }`;

  it('stay as they are for a caller that may not use tokens', async () => {
    const id = await gateway.token(card);
    const { json } = await orders.send(
      orders.reactor(author, code, { args: { card: `{{${id}}}` } }),
    );
    expect(json.result).toMatchObject({ raw: { card: `{{${id}}}` } });
    expect(await gateway.uses(id)).toEqual([]);
  });

  it('are opened for one that may, recorded, and shown neither in results nor in lines', async () => {
    const id = await gateway.token(card);
    const args = { card: `{{${id}}}`, part: `{{ ${id} | slice: 0, 8 }}` };
    const order = orders.reactor(user, code.replace('last:', 'part: args.part, last:'), { args });
    const { json } = await orders.send(order);
    expect(json.result).toEqual({
      raw: {
        ...{ card: '[redacted]', number: '[redacted]', coded: '[redacted]==', part: '[redacted]' },
        ...{ '[redacted]': 1, last: '1486' },
      },
    });
    expect(JSON.stringify(json)).not.toContain(card.slice(0, 8));
    expect(await gateway.uses(id)).toContainEqual(
      expect.objectContaining({
        ...{ operation: 'reactor.dry_run', outcome: 'success', actor_id: user.actorId },
        entity_id: order.reactor.id,
      }),
    );
  });

  it('stay as they are where a debugger would see them, also for one that may', async () => {
    const id = await gateway.token(card);
    const debugged = { args: { card: `{{${id}}}` }, inspect: randomUUID() };
    expect(await orders.send(orders.reactor(user, code, debugged))).toMatchObject({
      status: 503,
      json: { code: 'no_capacity', detail: expect.stringContaining('SANDBOX_INSPECT') as string },
    });
    expect(await gateway.uses(id)).toEqual([]);
  });

  it('that are unknown refuse the order, as they would a call', async () => {
    const args = { card: `{{${randomUUID()}}}` };
    expect(await orders.send(orders.reactor(user, code, { args }))).toMatchObject({
      status: 400,
      json: { code: 'unknown_token' },
    });
  });
});

it('code gets the stored configuration of the reactor that is named, and nothing shows it', async () => {
  const secret = 'sk_live_very_secret';
  const stored = orders.reactor(author, '');
  await gateway.ctx.follower.current();
  await gateway.define({ ...stored.reactor, configuration: { API_KEY: secret } });
  const code = `module.exports = ({ configuration }) => {
    console.log(configuration.API_KEY);
    if (configuration.API_KEY.length !== ${secret.length}) throw new Error('not the stored one');
    return { raw: { key: configuration.API_KEY, text: 'Bearer ' + configuration.API_KEY, names: Object.keys(configuration) } };
  }`;
  const order = orders.reactor(author, code, { configurationOf: stored.reactor.id });
  const { json } = await orders.send(order);
  expect(json.result).toEqual({
    raw: { key: '[redacted]', text: 'Bearer [redacted]', names: ['API_KEY'] },
  });
  expect(JSON.stringify(json)).not.toContain(secret);
  const stranger = await orders.caller(['reactor:update'], randomUUID());
  const foreign = orders.reactor(stranger, code, { configurationOf: stored.reactor.id });
  expect(await orders.send(foreign)).toMatchObject({ status: 404 });
});

it('code with svc acts as the application of its reactor, and stores what it tokenizes', async () => {
  const { id: applicationId } = await gateway.revocable(['token:create']);
  const code = `module.exports = async ({ svc }) => ({ tokenize: { made: 'by the code' }, raw: { has: svc !== null } })`;
  const order = orders.reactor(user, code, { svc: true }, { applicationId });
  const { json } = await orders.send(order);
  expect(json).toMatchObject({ status: 'completed', result: { raw: { has: true } } });
  const made = (json.result as { tokens: { made: string } }).tokens.made;
  expect(await gateway.asAdmin(`SELECT created_by FROM tokens WHERE id = '${made}'`)).toEqual([
    { created_by: applicationId },
  ]);
});

it('code with svc does what its application and its caller both may, whichever application is named', async () => {
  const all = ['token:read', 'token:create', 'token:update', 'token:delete'] as const;
  const { id: applicationId } = await gateway.revocable([...all]);
  const person = personPrincipal({ id: randomUUID(), tenantId: gateway.tenantId, role: 'author' });
  const token = await gateway.token(card);
  const code = `module.exports = async ({ args, svc }) => {
    const codeOf = (call) => call.then(() => 'done', (error) => error.code);
    return { raw: {
      read: await codeOf(svc.tokens.retrieve(args.id)), made: await codeOf(svc.tokenize('a')),
      changed: await codeOf(svc.tokens.update(args.id, { data: 'b' })),
      deleted: await codeOf(svc.tokens.delete(args.id)),
    } };
  }`;
  const raw = async (caller: Principal) => {
    const more = { svc: true, args: { id: token } };
    const { json } = await orders.send(orders.reactor(caller, code, more, { applicationId }));
    return (json.result as { raw: unknown }).raw;
  };
  const refused = { changed: 'permission_denied', deleted: 'permission_denied' };
  expect(await raw(person)).toEqual({ read: 'done', made: 'done', ...refused });
  const admin = personPrincipal({ id: randomUUID(), tenantId: gateway.tenantId, role: 'admin' });
  expect(await raw(admin)).toMatchObject({ deleted: 'done' });
});

describe('places', () => {
  const never = 'module.exports = () => new Promise(() => {})';

  it('of a tenant are two at once, which hold up no other tenant', async () => {
    const stranger = await orders.caller(['reactor:update'], randomUUID());
    const held = [1, 2].map(() => orders.send(orders.reactor(author, never)));
    await waitFor(() => gateway.ctx.shares.dryRuns.heldBy(author.tenantId) === 2);
    expect(await orders.send(orders.reactor(author, never))).toMatchObject({
      status: 429,
      json: { code: 'share_exhausted' },
    });
    const other = await orders.send(orders.reactor(stranger, 'module.exports = () => ({})'));
    expect(other.json.status).toBe('completed');
    for (const { json } of await Promise.all(held)) expect(json.status).toBe('failed');
    expect(gateway.ctx.shares.dryRuns.heldBy(author.tenantId)).toBe(0);
  });

  it('are given back when the caller leaves, and the code ends', async () => {
    const left = new AbortController();
    const sent = orders.send(orders.reactor(author, never), { signal: left.signal });
    await waitFor(() => gateway.ctx.shares.dryRuns.heldBy(author.tenantId) === 1);
    left.abort();
    await expect(sent).rejects.toThrow();
    await waitFor(() => gateway.ctx.shares.dryRuns.heldBy(author.tenantId) === 0);
  });
});

describe('an order', () => {
  it('without a ticket of this installation finds nothing, and is not read', async () => {
    const before = gateway.management.requests.length;
    await orders.send(orders.reactor(author, 'module.exports = () => ({})'), { ticket: 'a.b' });
    expect(gateway.management.requests.slice(before)).toMatchObject([
      { url: '/internal/dry-runs' },
    ]);
  });

  it('other than that of its ticket is refused', async () => {
    const order = orders.reactor(author, 'module.exports = () => ({})');
    const body = Buffer.from(JSON.stringify({ v: 1, order: { ...order, args: { other: 1 } } }));
    expect(await orders.send(order, { body })).toMatchObject({ status: 400 });
  });

  it('is carried out once, however often it is sent', async () => {
    const key = 'module.exports = () => new Promise((done) => setTimeout(done, 200, {}))';
    const order = orders.reactor(author, key);
    const ticket = gateway.ctx.tickets.write(order.caller, writeOrder(order));
    const spoiled = await orders.send(order, { body: Buffer.from('{}'), ticket });
    expect(spoiled.status).toBe(400);
    const both = await Promise.all([1, 2].map(() => orders.send(order, { ticket })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await orders.send(order, { ticket })).toMatchObject({
      status: 409,
      json: { code: 'conflict' },
    });
    expect((await orders.send(order)).status).toBe(200);
  });

  it('of an application that is gone since is refused', async () => {
    const { id, revoke, change } = await gateway.revocable(['reactor:update']);
    const caller = gateway.ctx.follower.fresh()?.principal(gateway.tenantId, id);
    if (!caller) throw new Error('the application is not known yet');
    await revoke();
    await change({ expiresAt: new Date(0).toISOString() });
    const order = orders.reactor(caller, 'module.exports = () => ({})');
    expect(await orders.send(order)).toMatchObject({ status: 401 });
  });
});

it('no dry run is in the log of runs or calls', async () => {
  await orders.send(orders.reactor(author, 'module.exports = () => { throw new Error("dry") }'));
  const key = await gateway.application(['token:use']);
  const id = await gateway.reactor([], 'module.exports = () => { throw new Error("real") }');
  await fetch(`${gateway.url}/reactors/${id}/react`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'SVC-TRACE-ID': 'real' },
  });
  const logged = await waitFor(async () => {
    const [runs, calls] = await Promise.all([
      gateway.asAdmin('SELECT resource_id AS id FROM ended_runs'),
      gateway.asAdmin('SELECT reactor_id AS id FROM calls'),
    ]);
    if (runs.length === 0 || calls.length === 0) throw new Error('not written yet');
    return { runs, calls };
  });
  expect(logged).toEqual({ runs: [{ id }], calls: [{ id }] });
});
