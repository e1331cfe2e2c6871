import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { errors, Glovebox, GloveboxError, NoAnswer } from './index';
import { verifyWebhook, WebhookVerificationError } from './webhooks';

const root = join(__dirname, '../../..');

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let glovebox: Glovebox;
let received: Received[];
/** The answers to the next calls, in order. */
let answers: ((res: ServerResponse) => void)[];

beforeAll(async () => {
  server = createServer((req, res) => {
    let body = '';
    req.on('data', (part: Buffer) => (body += String(part)));
    req.on('end', () => {
      const { method = '', url = '', headers } = req;
      received.push({ method, url, headers, body });
      const answer = answers.shift();
      if (answer) answer(res);
      else json(200, {})(res);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  glovebox = new Glovebox({ url: `http://127.0.0.1:${port}/`, key: 'key_1', timeoutMs: 10_000 });
});
beforeEach(() => {
  received = [];
  answers = [];
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (res: ServerResponse): void => {
    const text = JSON.stringify(body);
    res.writeHead(status, {
      'content-type': 'application/json',
      'content-length': text.length,
      ...headers,
    });
    res.end(text);
  };
const problem = (status: number, code: string, headers: Record<string, string> = {}, more = {}) =>
  json(status, { title: 'Title.', status, code, ...more }, headers);
const silence = (res: ServerResponse): void => void res.destroy();
const refused = async (call: Promise<unknown>): Promise<GloveboxError> => {
  const thrown: unknown = await call.catch((error: unknown) => error);
  if (!(thrown instanceof GloveboxError))
    throw new Error(`no error of Glovebox: ${String(thrown)}`);
  return thrown;
};

const formula = { name: 'f', code: 'module.exports = () => ({})' };
const create = (options = {}) => glovebox.post('/reactor-formulas', { body: formula, ...options });

describe('a call', () => {
  it('has the key, is strict, and every POST has an idempotency key of its own', async () => {
    await create();
    await create();
    await glovebox.patch('/proxies/{id}', { params: { path: { id: 'a b' } }, body: { name: 'n' } });
    await glovebox.get('/tokens', { params: { query: { id: ['x', 'y'], size: 5 } } });
    const [first, second, third, list] = received;
    expect(first).toMatchObject({
      method: 'POST',
      url: '/reactor-formulas',
      body: JSON.stringify(formula),
    });
    expect(first?.headers).toMatchObject({ 'svc-api-key': 'key_1', 'svc-strict': 'true' });
    const keys = [first, second].map((one) => one?.headers['svc-idempotency-key']);
    expect(new Set(keys).size).toBe(2);
    expect(third?.url).toBe('/proxies/a%20b');
    expect(third?.headers['content-type']).toBe('application/merge-patch+json');
    expect(third?.headers).not.toHaveProperty('svc-idempotency-key');
    expect(list?.url).toBe('/tokens?id=x&id=y&size=5');
  });

  it('takes an idempotency key of the caller', async () => {
    await create({ idempotencyKey: 'order-7' });
    expect(received[0]?.headers['svc-idempotency-key']).toBe('order-7');
  });

  it('reads url and key from the environment, and says which it lacks', () => {
    const env = jest.replaceProperty(process, 'env', { GLOVEBOX_URL: 'http://127.0.0.1:1' });
    expect(() => new Glovebox()).not.toThrow();
    env.replaceValue({});
    expect(() => new Glovebox()).toThrow('GLOVEBOX_URL');
    env.restore();
  });
});

describe('a refused call', () => {
  it('throws the class of its code, with what the answer says', async () => {
    const more = { detail: 'There is no proxy with this id.', errors: { id: ['unknown'] } };
    answers.push(problem(404, 'not_found', { 'svc-trace-id': 'trace-1' }, more));
    const error = await refused(glovebox.get('/proxies/{id}', { params: { path: { id: 'x' } } }));
    expect(error).toBeInstanceOf(errors.not_found);
    expect(error).not.toBeInstanceOf(errors.conflict);
    expect(error).toMatchObject({ code: 'not_found', status: 404, traceId: 'trace-1', ...more });
    expect(error.message).toContain('There is no proxy with this id.');
    expect(received).toHaveLength(1);
  });

  it('throws the common class for a code of a newer release', async () => {
    answers.push(problem(418, 'teapot'));
    expect((await refused(create())).code).toBe('teapot');
  });
});

describe('a call that may be repeated', () => {
  it('is repeated with the same key where nothing was done, as soon as Retry-After says', async () => {
    answers.push(problem(429, 'rate_limited', { 'retry-after': '1' }), problem(503, 'no_capacity'));
    const begun = performance.now();
    await create();
    expect(performance.now() - begun).toBeGreaterThan(1_000);
    const keys = received.map(({ headers }) => headers['svc-idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it('is repeated where no answer came, unless If-Match would refuse what was done', async () => {
    answers.push(silence);
    await create();
    expect(received).toHaveLength(2);
    answers.push(silence);
    const params = { path: { id: 'x' }, header: { 'If-Match': '"1"' } };
    const patched = glovebox.patch('/proxies/{id}', { params, body: { name: 'n' } });
    await expect(patched).rejects.toBeInstanceOf(NoAnswer);
    expect(received).toHaveLength(3);
  });

  it('is repeated as often as was said, and not for a wait that is too long', async () => {
    answers.push(problem(503, 'no_capacity'), problem(503, 'no_capacity'));
    expect((await refused(create({ retries: 1 }))).code).toBe('no_capacity');
    expect(received).toHaveLength(2);
    answers.push(problem(429, 'rate_limited', { 'retry-after': '3600' }));
    const error = await refused(create());
    expect(error.retryAfterMs).toBe(3_600_000);
    expect(received).toHaveLength(3);
  });

  it('is not repeated for what code threw, whatever its status', async () => {
    answers.push(problem(503, 'reactor_error'));
    expect((await refused(glovebox.react('r', { args: {} }))).code).toBe('reactor_error');
    expect(received).toHaveLength(1);
  });

  it('is repeated for a status of a balancer in front, and that is no error of Glovebox', async () => {
    const busy = (res: ServerResponse): void => void res.writeHead(502).end('<html>');
    answers.push(busy);
    await create();
    expect(received).toHaveLength(2);
    answers.push(busy);
    await expect(create({ retries: 0 })).rejects.toThrow('502 of something in front');
  });
});

describe('a call ends', () => {
  it('when its time is over, and says what was answered before', async () => {
    const never = (): void => undefined;
    answers.push(never);
    const late: unknown = await create({ timeoutMs: 100 }).catch((error: unknown) => error);
    expect(late).toMatchObject({ name: 'NoAnswer', isTimeout: true });
    answers.push(problem(503, 'no_capacity', { 'retry-after': '0' }), never);
    await expect(create({ timeoutMs: 1_000 })).rejects.toMatchObject({
      isTimeout: true,
      message: 'No answer came within 1000 ms. The answer before was: no_capacity: Title.',
    });
  });

  it('with what was answered, where the time would be over before it may be repeated', async () => {
    answers.push(problem(429, 'rate_limited', { 'retry-after': '30' }));
    expect((await refused(create())).code).toBe('rate_limited');
    expect(received).toHaveLength(1);
  });

  it('when its signal says so, with the reason of the signal', async () => {
    const reason = new Error('left');
    const leaving = new AbortController();
    answers.push(() => leaving.abort(reason));
    await expect(create({ signal: leaving.signal })).rejects.toBe(reason);
    expect(received).toHaveLength(1);
  });
});

describe('lists', () => {
  const page = (data: unknown[], after?: string) =>
    json(200, { pagination: { page_size: 2, ...(after && { after }) }, data });

  it('are read page by page, as they are wanted', async () => {
    answers.push(page([{ id: 1 }, { id: 2 }], 'A'), page([{ id: 3 }]));
    const seen: unknown[] = [];
    for await (const { id } of glovebox.each('/calls', { params: { query: { size: 2 } } })) {
      seen.push([id, received.length]);
    }
    expect(seen).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ]);
    expect(received.map(({ url }) => url)).toEqual(['/calls?size=2', '/calls?size=2&after=A']);
  });

  it('of a search as well', async () => {
    answers.push(page([{ id: 'a' }], 'B'), page([{ id: 'b' }]));
    const found: string[] = [];
    for await (const { id } of glovebox.search('type:card')) found.push(id);
    expect(found).toEqual(['a', 'b']);
    expect(JSON.parse(received[1]?.body ?? '')).toEqual({ query: 'type:card', after: 'B' });
  });
});

describe('a run in the background', () => {
  it('is waited for until it has ended, and its error is thrown', async () => {
    const accepted = json(202, { async_request_id: 'run-1' });
    const pending = json(200, { status: 'pending' });
    answers.push(accepted, pending, json(200, { status: 'completed', result: { raw: 5 } }));
    const run = await glovebox.reactAsync('r', { callback_url: 'https://shop.example' });
    expect([run.id, await run.result()]).toEqual(['run-1', { raw: 5 }]);
    const error = { title: 'T', status: 500, code: 'reactor_error' };
    answers.push(json(200, { status: 'failed', error }));
    expect((await refused(run.result())).code).toBe('reactor_error');
  });
});

describe('a call of a proxy', () => {
  it('returns what the destination answers, whatever its status', async () => {
    answers.push(json(404, { mine: true }, { 'svc-proxy-destination-status': '404' }));
    const answer = await glovebox.proxy('/charges?x=1', {
      proxyKey: 'p',
      method: 'POST',
      body: '{}',
    });
    expect([answer.status, await answer.json()]).toEqual([404, { mine: true }]);
    expect(received[0]).toMatchObject({ url: '/proxy/charges?x=1', body: '{}' });
    expect(received[0]?.headers).toMatchObject({ 'svc-proxy-key': 'p', 'svc-api-key': 'key_1' });
    expect(received[0]?.headers).not.toHaveProperty('svc-strict');
  });

  const failure = (code: string, headers = {}) =>
    json(503, { proxy_error: { title: 'T', status: 503, code } }, headers);

  it('throws what the proxy itself answers, and repeats what never left', async () => {
    answers.push(failure('destination_busy'));
    expect((await glovebox.proxy('', { method: 'POST' })).status).toBe(200);
    answers.push(failure('no_capacity', { 'svc-proxy-destination-status': '200' }));
    expect((await refused(glovebox.proxy('', { method: 'POST' }))).code).toBe('no_capacity');
    expect(received).toHaveLength(3);
  });

  it('is not repeated where nobody knows whether it was carried out', async () => {
    answers.push(silence);
    await expect(glovebox.proxy('', { method: 'POST' })).rejects.toBeInstanceOf(NoAnswer);
    expect(received).toHaveLength(1);
  });
});

describe('a webhook', () => {
  const secret = `whsec_${Buffer.from('a secret of the tenant').toString('base64')}`;
  const signed = (body: string) => ({
    'Webhook-Id': 'msg_run-1',
    'Webhook-Timestamp': String(Math.floor(Date.now() / 1000)),
    'Webhook-Signature': new Webhook(secret).sign('msg_run-1', new Date(), body),
  });

  it('is read where it is genuine', () => {
    const body = JSON.stringify({ raw: { sum: 5 } });
    const report = verifyWebhook(Buffer.from(body), signed(body), secret);
    expect(report).toEqual({ runId: 'run-1', result: { raw: { sum: 5 } } });
    const failed = JSON.stringify({ title: 'T', status: 504, code: 'reactor_timeout' });
    const { error } = verifyWebhook(failed, new Headers(signed(failed)), secret);
    expect(error).toBeInstanceOf(errors.reactor_timeout);
  });

  it('is refused where a byte of it is another', () => {
    const altered = () => verifyWebhook('{"raw":6}', signed('{"raw":5}'), secret);
    expect(altered).toThrow(WebhookVerificationError);
  });
});

it('the types are those of docs/openapi.json', () => {
  const written = spawnSync(process.execPath, [join(root, 'tools/docs.mjs'), '--types'], {
    encoding: 'utf8',
  });
  const kept = readFileSync(join(__dirname, 'api.ts'), 'utf8');
  if (written.stdout !== kept)
    throw new Error('libs/client/src/api.ts is out of date. Run: npm run docs');
});

it('its own code has at most 400 lines', () => {
  const files = ['index', 'glovebox', 'send', 'async-run', 'errors', 'webhooks'];
  const lines = files.map((file) =>
    readFileSync(join(__dirname, `${file}.ts`), 'utf8').split('\n'),
  );
  const own = lines.flat().filter((line) => line.trim() !== '' && !/^\s*(?:\/?\*|\/\/)/.test(line));
  expect(own.length).toBeLessThanOrEqual(400);
});
