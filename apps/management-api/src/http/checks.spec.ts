import { randomUUID } from 'node:crypto';
import { request as send, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';

const api = useTestApi({ HEADER_PREFIXES: 'SVC,BT' });

const text = expect.any(String) as string;
const formula = { name: 'F', code: 'module.exports = () => ({})' };

describe('the guard', () => {
  it('puts 401 before 403, 415, 413 and 400, and reads no body without a valid key', async () => {
    const huge = 'x'.repeat(2 * 1024 * 1024);
    const refused = await api
      .post('/applications', huge, 'key_x')
      .set('Content-Type', 'text/plain');
    expect(refused.status).toBe(401);
    expect(refused.body).toEqual({
      title: 'The API key is missing or not valid.',
      status: 401,
      code: 'invalid_api_key',
      detail: expect.stringMatching(/mistyped/) as string,
    });
  });

  it('puts 403 before 415', async () => {
    const refused = await api
      .post('/applications', '{', api.tenant.private_key)
      .set('Content-Type', 'text/plain');
    expect(refused.status).toBe(403);
  });

  it.each([
    'text/plain',
    'application/merge-patch+json',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    '',
  ])('puts 415 before 400 for the media type "%s"', async (type) => {
    const refused = await api.post('/applications', '{').set('Content-Type', type);
    expect(refused.status).toBe(415);
    expect(refused.body).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  it('puts 415 before 404, and 404 before 413 and 400', async () => {
    const path = `/reactor-formulas/${randomUUID()}`;
    const huge = 'x'.repeat(2 * 1024 * 1024);
    expect((await api.put(path, huge).set('Content-Type', 'text/plain')).status).toBe(415);
    expect((await api.put(path, huge)).status).toBe(404);
    expect((await api.put(path, '{')).status).toBe(404);
    expect((await api.put(path, '{', api.tenant.private_key)).status).toBe(403);
    expect((await api.put(path, '{', 'key_x')).status).toBe(401);
  });

  it('answers an encoded body with 415', async () => {
    const refused = await api.post('/reactor-formulas', formula).set('Content-Encoding', 'gzip');
    expect(refused.status).toBe(415);
  });

  it('accepts the charset UTF-8', async () => {
    const created = await api
      .post('/reactor-formulas', formula)
      .set('Content-Type', 'Application/JSON; Charset="UTF-8"');
    expect(created.status).toBe(201);
  });

  it.each(['text/json', 'text/json; charset=utf-8'])('accepts %s as JSON', async (type) => {
    const created = await api.post('/reactor-formulas', formula).set('Content-Type', type);
    expect(created.status).toBe(201);
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])(
    'accepts a POST without a body, if none is needed, under the media type %s',
    async (type) => {
      const application = { name: 'a', type: 'private', permissions: ['token:use'] };
      const { id } = (await api.post('/applications', application)).body as { id: string };
      const headers = { 'SVC-API-KEY': api.tenant.management_key, 'Content-Type': type };
      const path = `/applications/${id}/regenerate`;
      expect((await raw('POST', path, { ...headers, 'Content-Length': '0' })).status).toBe(200);
      expect((await raw('POST', path, headers, Buffer.from('a=b'))).status).toBe(415);
      // A required body is reported by its missing members.
      const bare = await raw('POST', '/applications', { ...headers, 'Content-Length': '0' });
      expect(bare).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    },
  );

  it('puts 413 before 400', async () => {
    const body = `{"name":"${'x'.repeat(1024 * 1024)}`;
    const refused = await api.post('/applications', body);
    expect(refused.status).toBe(413);
    expect(refused.body).toMatchObject({ status: 413, code: 'payload_too_large' });
  });
});

describe('the caller', () => {
  it('gets the same 401 for every kind of wrong key', async () => {
    const { management_key: key } = api.tenant;
    const wrong = [
      'nothing',
      key.slice(0, -1),
      `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
      `${key} ${key}`,
      'key_' + '0'.repeat(33),
    ];
    const answers = await Promise.all(
      wrong.map((one) => api.get(`/applications/${randomUUID()}`, one)),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
  });

  it('may send the key under an alias, but not two keys', async () => {
    const path = `/applications/${randomUUID()}`;
    const key = api.tenant.management_key;
    expect((await raw('GET', path, { 'BT-API-KEY': key })).status).toBe(404);
    const both = await raw('GET', path, { 'BT-API-KEY': key, 'SVC-API-KEY': key });
    expect(both).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    const twice = await raw('GET', path, { 'SVC-API-KEY': [key, key] });
    expect(twice.status).toBe(400);
    expect((await raw('GET', path, {})).status).toBe(401);
  });
});

describe('bodies', () => {
  it.each([
    ['{"name":"a","name":"b"}', 'invalid_json'],
    ['{"name":', 'invalid_json'],
    ['{"__proto__":{}}', 'invalid_json'],
    ['"text"', 'validation_failed'],
    ['null', 'validation_failed'],
    ['', 'validation_failed'],
  ])('are refused with 400: %s', async (body, code) => {
    const refused = await api.post('/applications', body);
    expect(refused.body).toMatchObject({ status: 400, code });
  });

  it('are refused with 400 if they are not UTF-8', async () => {
    const refused = await raw(
      'POST',
      '/applications',
      { 'SVC-API-KEY': api.tenant.management_key, 'Content-Type': 'application/json' },
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    );
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
  });

  it('may be missing on a GET with a content type', async () => {
    const answer = await api
      .get(`/applications/${randomUUID()}`)
      .set('Content-Type', 'application/json');
    expect(answer.status).toBe(404);
  });

  it('may break off when the caller leaves, and the next call is served', async () => {
    const socket = connect(api.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /applications HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${api.tenant.management_key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":',
    );
    await waitFor(() => connections().then((count) => count > 0));
    socket.destroy();
    await waitFor(() => connections().then((count) => count === 0));
    expect((await api.post('/reactor-formulas', formula)).status).toBe(201);
  });

  it('may come in chunks, and are cut off if they never end', async () => {
    const socket = connect(api.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    socket.write(
      `POST /applications HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${api.tenant.management_key}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const refused = await tooLargeCount();
    const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    // once() would treat the expected error of the write as a failure.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const feeding = setInterval(() => socket.write(piece.repeat(16)), 5);
    await closed;
    clearInterval(feeding);
    // The answer may be lost, because this caller keeps writing instead of reading.
    expect(await tooLargeCount()).toBe(refused + 1);
  });
});

describe('every answer', () => {
  it('is a problem for an unknown path', async () => {
    for (const path of ['/', '/nothing', '/applications/%E0%A4%A', '/health/live', '/metrics']) {
      const answer = await api.get(path);
      expect([404, 400]).toContain(answer.status);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(answer.body).toMatchObject({ title: text, status: answer.status, code: text });
      const { detail, ...rest } = answer.body as { detail?: string };
      expect(Object.keys(rest).sort()).toEqual(['code', 'status', 'title']);
      expect(detail).toEqual(answer.status === 404 ? text : undefined);
    }
  });

  it('is a problem for every head that the gateway passes on', async () => {
    const long = 'a'.repeat(32 * 1024);
    const refused = await api.get(`/runs?trace_id=${long}`);
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect((await api.get('/reactors').set('X-Long', long)).status).toBe(200);
  });

  it('is the same with a trailing slash', async () => {
    expect((await api.post('/reactor-formulas/', formula)).status).toBe(201);
    expect((await api.get(`/applications/${randomUUID()}/`)).status).toBe(404);
  });

  it('names the trace: the given one, that of traceparent, or a new one', async () => {
    const path = `/applications/${randomUUID()}`;
    const traceIdWith = async (headers: Record<string, string>): Promise<unknown> =>
      (await raw('GET', path, headers)).headers['svc-trace-id'];
    expect(await traceIdWith({ 'SVC-TRACE-ID': 'order-7' })).toBe('order-7');
    expect(await traceIdWith({ 'BT-TRACE-ID': 'order-8' })).toBe('order-8');
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    expect(await traceIdWith({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` })).toBe(traceId);
    const made = /^[0-9a-f-]{36}$/;
    expect(await traceIdWith({})).toMatch(made);
    expect(await traceIdWith({ 'SVC-TRACE-ID': 'a b' })).toMatch(made);
    expect(await traceIdWith({ 'SVC-TRACE-ID': 'x'.repeat(65) })).toMatch(made);
  });

  it('says nothing about the software, and may not be cached', async () => {
    const { headers } = await api.get(`/applications/${randomUUID()}`);
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
    expect(headers['cache-control']).toBe('no-store');
  });

  it('is data that no browser may render, frame or sniff', async () => {
    const { headers } = await api.get(`/applications/${randomUUID()}`);
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-dns-prefetch-control': 'off',
      'x-download-options': 'noopen',
      'x-frame-options': 'DENY',
      'x-permitted-cross-domain-policies': 'none',
      'x-xss-protection': '0',
    });
    expect(headers).not.toHaveProperty('strict-transport-security');
  });

  it('is counted by method, route and status', async () => {
    await api.get(`/reactors/${randomUUID()}`);
    const page = await api.ctx.registry.metrics();
    expect(page).toMatch(
      /glovebox_management_request_seconds_count\{[^}]*method="GET",route="\/reactors\/:id",status="404"/,
    );
    expect(page).not.toMatch(/route="[^"]*[0-9a-f]{8}-/);
  });
});

function connections(): Promise<number> {
  return new Promise((resolve) => {
    api.app.getHttpServer().getConnections((_: unknown, count: number) => resolve(count));
  });
}

async function tooLargeCount(): Promise<number> {
  const { values } = await api.ctx.duration.get();
  const found = values.find(
    ({ metricName, labels }) => metricName?.endsWith('_count') && labels.status === 413,
  );
  return found?.value ?? 0;
}

interface RawAnswer {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  body: unknown;
}

/** Sends a request that supertest would normalize. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string | string[]>,
  body?: Buffer,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = send({
      port: api.port,
      host: '127.0.0.1',
      method,
      path,
      headers,
      agent: false,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let answer = '';
      response.on('data', (data: Buffer) => (answer += data.toString('utf8')));
      response.on('end', () => {
        const { statusCode: status, headers: received } = response;
        resolve({ status, headers: received, body: JSON.parse(answer) as unknown });
      });
    });
    request.end(body);
  });
}
