import { authorSession } from './author-session';
import { createOwnTenant } from './own-tenant';
import { call, create, reactorOf, revealingApplication, runningProduct, until } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl, adminKey, privateKey } = product;
const card = '4539578763621486';
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const rehearse = async (family: 'reactors' | 'proxies', body: object, key = adminKey) => {
  const answer = await call('POST', `${baseUrl}/${family}/dry-runs`, { key, body });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
};
const auditLines = async (operation: string, id: string) => {
  const path = `/logs?operation=${operation}&entity_id=${id}`;
  const answer = await call('GET', `${baseUrl}${path}`, { key: adminKey });
  return answer.body.data as Record<string, unknown>[];
};
const secretOf = async (): Promise<string> =>
  (await create(product, '/tokens', { type: 'token', data: card }, privateKey)).id;

it('code is tried on arguments before it is saved, and is no run of its reactor', async () => {
  const id = await reactorOf(product, 'module.exports = () => ({ raw: "saved" })');
  const unsaved = {
    code: `module.exports = ({ args }) => {
  console.log('trying');
  return { raw: { sum: args.list[0] + args.list[1] } };
};`,
  };
  const body = { reactor_id: id, reactor: { formula: unsaved } };
  expect(await rehearse('reactors', { ...body, args: { list: [40, 2] } })).toMatchObject({
    ...{ status: 'completed', result: { raw: { sum: 42 } } },
    lines: [{ level: 'info', text: 'trying' }],
  });
  expect(await rehearse('reactors', body)).toMatchObject({
    status: 'failed',
    error: { code: 'reactor_error', position: { line: 3 }, stack: [{ line: 3 }] },
  });
  const runs = await call('GET', `${baseUrl}/reactors/${id}/runs`, { key: adminKey });
  expect(runs.body.data).toEqual([]);
  expect(await auditLines('reactor.dry_run', id)).toMatchObject([
    { entity_id: id },
    { entity_id: id },
  ]);
  const saved = await call('POST', `${baseUrl}/reactors/${id}/react`, {
    key: privateKey,
    body: {},
  });
  expect(saved.body).toEqual({ raw: 'saved' });
});

it('a key that may not use tokens gets no data of one into its code', async () => {
  const id = await secretOf();
  const formula = {
    code: 'module.exports = ({ args }) => ({ raw: { length: args.card.length, card: args.card } })',
  };
  const args = { card: `{{${id}}}` };
  expect(await rehearse('reactors', { reactor: { formula }, args })).toMatchObject({
    result: { raw: { length: args.card.length, card: args.card } },
  });
});

it('a request is shown as it would leave, and leaves nowhere', async () => {
  const id = await secretOf();
  const shown = await rehearse('proxies', {
    proxy: {
      destination_url: `${receiver.url}/pay`,
      request_transforms: [
        { type: 'append', options: { location: 'header', name: 'X-A', value: 'b' } },
      ],
    },
    request: {
      ...{ path: '/cards', query: 'a=b' },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ card: `{{${id}}}` }),
    },
  });
  expect(shown).toMatchObject({
    status: 'completed',
    request: {
      url: `${receiver.url}/pay/cards?a=b`,
      headers: { 'x-a': 'b' },
      body: JSON.stringify({ card: `{{${id}}}` }),
    },
  });
  expect(receiver.received).toEqual([]);
});

it('a run that failed is repeated with mended code, and goes to its callback when asked', async () => {
  const token = await secretOf();
  const code = (text: string) => `module.exports = ({ args }) => { ${text} }`;
  const reactor = await reactorOf(product, code('throw new Error(args.card.slice(0, 4))'));
  const body = { args: { card: `{{${token}}}` }, callback_url: `${receiver.url}/first` };
  const react = `${baseUrl}/reactors/${reactor}/react`;
  const accepted = await call('POST', react, { key: privateKey, body });
  const run = String(accepted.body.async_request_id);
  expect(JSON.parse((await receiver.next()).body)).toMatchObject({ code: 'reactor_error' });
  const runOf = async (id: string) =>
    (await call('GET', `${baseUrl}/runs/${id}`, { key: adminKey })).body;
  expect(await runOf(run)).toMatchObject({
    ...{ status: 'failed', arguments_kept_until: expect.any(String) as string },
  });

  const { formula } = (await call('GET', `${baseUrl}/reactors/${reactor}`, { key: adminKey }))
    .body as { formula: { id: string } };
  const mended = { name: 'mended', code: code('return { raw: args.card.length }') };
  await call('PUT', `${baseUrl}/reactor-formulas/${formula.id}`, { key: adminKey, body: mended });
  const rerun = async (options: object): Promise<string> => {
    const path = `${baseUrl}/runs/${run}/rerun`;
    const answer = await call('POST', path, { key: privateKey, body: options });
    expect([answer.status, answer.text]).toEqual([202, answer.text]);
    return String(answer.body.async_request_id);
  };
  const silent = await rerun({});
  await until(async () => (await runOf(silent)).status === 'completed');
  const again = await rerun({ callback: true });
  const webhook = await receiver.next();
  expect([webhook.url, JSON.parse(webhook.body)]).toEqual(['/first', { raw: card.length }]);
  await until(async () => {
    const { webhook: delivery } = await runOf(again);
    return (delivery as { status: string }).status === 'delivered';
  });
  expect(await runOf(silent)).not.toHaveProperty('webhook');

  const deleting = String((await revealingApplication(product, ['delete'])).key);
  await call('DELETE', `${baseUrl}/tokens/${token}`, { key: deleting });
  await until(async () => (await runOf(run)).arguments_kept_until === undefined);
  const gone = await call('POST', `${baseUrl}/runs/${run}/rerun`, { key: privateKey, body: {} });
  expect([gone.status, gone.body.code]).toEqual([410, 'data_gone']);
});

it('an author at the console tries and repeats code on tokens, by the same paths', async () => {
  const { api, key } = await authorSession();
  const token = await secretOf();
  const formula = {
    code: `module.exports = ({ args }) => { if (args.card.length === 16) throw new Error(args.card); return { raw: args.card } }`,
  };
  const body = { reactor: { formula }, args: { card: `{{${token}}}` } };
  const tried = await call('POST', `${api}/reactors/dry-runs`, { key, body });
  expect([tried.status, tried.body]).toMatchObject([
    200,
    { status: 'failed', error: { message: '[redacted]' } },
  ]);
  const request = { headers: { 'content-type': 'application/json' }, body: `{"c":"{{${token}}}"}` };
  const shown = await call('POST', `${api}/proxies/dry-runs`, { key, body: { request } });
  expect(shown.body).toMatchObject({ request: { body: '{"c":"[redacted]"}' } });

  const reactor = await reactorOf(product, formula.code);
  const asked = { args: body.args, callback_url: `${receiver.url}/first` };
  const react = `${baseUrl}/reactors/${reactor}/react`;
  await call('POST', react, { key: privateKey, body: asked });
  const runs = async () => {
    const path = `${api}/reactors/${reactor}/runs`;
    return (await call('GET', path, { key })).body.data as Record<string, unknown>[];
  };
  await until(async () => (await runs()).some(({ status }) => status === 'failed'));
  const [failed] = await runs();
  const again = await call('POST', `${api}/runs/${String(failed?.id)}/rerun`, { key, body: {} });
  expect(again.status).toBe(202);
  await until(async () => (await runs()).filter(({ status }) => status === 'failed').length === 2);
  expect((await runs())[0]).toMatchObject({ outcome: 'reactor_error', token_ids: [token] });
});

it('what a tenant may have under way is bounded, and other tenants are served', async () => {
  const { management_key: own } = await createOwnTenant('dry runs');
  const never = { reactor: { formula: { code: 'module.exports = () => new Promise(() => {})' } } };
  const quick = { reactor: { formula: { code: 'module.exports = () => ({ raw: 1 })' } } };
  const left = new AbortController();
  const send = (key: string, body: object): Promise<number> =>
    fetch(`${baseUrl}/reactors/dry-runs`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: left.signal,
    }).then(
      ({ status }) => status,
      () => 0,
    );
  const many = Array.from({ length: 6 }, () => send(own, never));
  const refused = await Promise.race(many);
  expect(refused).toBe(429);
  expect(await send(product.secondTenant.adminKey, quick)).toBe(200);
  left.abort();
  const statuses = await Promise.all(many);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
});
