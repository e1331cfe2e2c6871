import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ProxyDefinition, TransformStep } from '@glovebox/definitions';
import { waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../../spec-gateway';
import { RawCaller } from '../../spec-sockets';

let gateway: SpecGateway;
let key: string;
let destinationUrl: string;
let answer: (req: IncomingMessage, res: ServerResponse, body: Buffer) => void;
const heard: IncomingMessage['headers'][] = [];

const destination = createServer((req, res) => {
  heard.push(req.headers);
  const parts: Buffer[] = [];
  req.on('data', (part: Buffer) => parts.push(part));
  req.on('end', () => answer(req, res, Buffer.concat(parts)));
});

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination.listen(0, '127.0.0.1');
  await once(destination, 'listening');
  destinationUrl = `http://127.0.0.1:${(destination.address() as AddressInfo).port}`;
  key = await gateway.application(['token:use']);
});
afterEach(() => void heard.splice(0));
afterAll(async () => {
  destination.closeAllConnections();
  destination.close();
  await gateway.close();
});

const scrubbing = (more: Partial<ProxyDefinition> = {}): Promise<string> =>
  gateway.proxy(destinationUrl, { scrub: true, ...more });

function call(proxyKey: string, init: RequestInit & { readonly query?: string } = {}) {
  const headers = { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...init.headers };
  return fetch(`${gateway.url}/proxy/a?${init.query ?? ''}`, { ...init, headers });
}

const card = '4242-4242 4242/"42"';
const forms = (text: string): string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(text),
  ...[0, 1, 2].map((before) => Buffer.from('x'.repeat(before) + text).toString('base64')),
];

function refuseValue(text: string, value = card): void {
  // The ends of base 64 hold bits of what is beside the value.
  for (const form of forms(value)) expect(text).not.toContain(form.slice(4, -6));
}

describe('a proxy with scrub', () => {
  it('answers with the expression in place of the value, in headers and body', async () => {
    const token = await gateway.token(card);
    const proxyKey = await scrubbing();
    answer = (_, res, body) => {
      res.writeHead(418, {
        'X-Card': encodeURIComponent(card),
        [`X-${card.slice(0, 4)}`]: 'stays',
        ETag: '"5"',
      });
      res.write(body.subarray(0, 12));
      res.write(body.subarray(12));
      res.write(JSON.stringify({ basic: Buffer.from(`u:${card}`).toString('base64') }));
      res.end();
    };
    const sent = { method: 'POST', body: JSON.stringify({ card: `{{ ${token} }}` }) };
    const caller = await call(proxyKey, {
      ...sent,
      headers: {
        'Content-Type': 'application/json',
        'Accept-Encoding': 'gzip',
        Range: 'bytes=0-9',
      },
    });
    const text = await caller.text();
    expect(caller.status).toBe(418);
    expect(text).toContain(`{"card":"{{ ${token} }}"}`);
    refuseValue(text + JSON.stringify([...caller.headers]));
    expect(caller.headers.get('x-card')).toBe(`{{ ${token} }}`);
    expect(caller.headers.get('x-4242')).toBe('stays');
    expect(caller.headers.get('etag')).toBeNull();
    expect(heard[0]).toMatchObject({ 'accept-encoding': 'identity' });
    expect(heard[0]).not.toHaveProperty('range');
  });

  it('answers with the expression in trailers too', async () => {
    const token = await gateway.token(card);
    answer = (_, res) => {
      res.writeHead(200, { Trailer: 'X-Last' });
      res.write('begun');
      res.addTrailers({ 'X-Last': encodeURIComponent(card) });
      res.end();
    };
    const headers = {
      'SVC-API-KEY': key,
      'SVC-PROXY-KEY': await scrubbing(),
      'X-Card': `{{ ${token} }}`,
    };
    const asked = httpRequest(`${gateway.url}/proxy`, { headers }).end();
    const [caller] = (await once(asked, 'response')) as [IncomingMessage];
    caller.resume();
    await once(caller, 'end');
    expect(caller.trailers).toEqual({ 'x-last': `{{ ${token} }}` });
  });

  it('gives a short answer its new length, and a long one none', async () => {
    const token = await gateway.token(card);
    const proxyKey = await scrubbing();
    const query = `card={{${token}}}`;
    for (const bytes of [100_000, 300_000]) {
      const body = Buffer.from(`${'a'.repeat(bytes / 2)}${card}${'b'.repeat(bytes / 2)}`);
      answer = (_, res) => res.writeHead(200, { 'Content-Length': body.length }).end(body);
      const caller = await call(proxyKey, { query });
      const text = await caller.text();
      expect(text).toBe(body.toString().replace(card, `{{ ${token} }}`));
      const isShort = bytes < 256 * 1024;
      expect(caller.headers.get('content-length')).toBe(isShort ? String(text.length) : null);
    }
  });

  it('passes on what begins no value before the answer goes on', async () => {
    const token = await gateway.token(card);
    let rest: (() => void) | undefined;
    answer = (_, res) => {
      res.write(`data: 1\n\ndata: ${card.slice(0, 9)}`);
      rest = () => res.end(card.slice(9));
    };
    const caller = await call(await scrubbing(), { headers: { 'X-Card': `{{ ${token} }}` } });
    const reader = caller.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: 1\n\ndata: ');
    rest?.();
    const second = await reader?.read();
    expect(Buffer.from(second?.value ?? []).toString()).toBe(`{{ ${token} }}`);
  });

  it.each([
    ['an encoded answer', 200, { 'Content-Encoding': 'gzip' }],
    ['a part of an answer', 206, { 'Content-Range': 'bytes 0-9/100' }],
  ])('refuses %s, of which nothing comes back', async (_, status, headers) => {
    const token = await gateway.token(card);
    answer = (_req, res) => res.writeHead(status, headers).end(gzipSync(card));
    const caller = await call(await scrubbing(), { query: `card={{${token}}}` });
    expect(caller.status).toBe(502);
    expect(await caller.json()).toMatchObject({
      proxy_error: { code: 'destination_answer_invalid' },
    });
    expect(caller.headers.get('svc-proxy-destination-status')).toBe(String(status));
  });

  it('answers HEAD and 304 without the length of what was not searched', async () => {
    const token = await gateway.token(card);
    const proxyKey = await scrubbing();
    const headers = { 'X-Card': `{{ ${token} }}` };
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 304],
    ] as const) {
      answer = (_, res) =>
        res.writeHead(status, { 'Content-Length': card.length, 'X-Card': card }).end();
      const caller = await call(proxyKey, { method, headers });
      expect([caller.status, caller.headers.get('content-length')]).toEqual([status, null]);
      expect(caller.headers.get('x-card')).toBe(`{{ ${token} }}`);
    }
  });

  it('passes on what it put nothing into as it is', async () => {
    answer = (req, res) => {
      res.writeHead(200, { ETag: '"5"', 'Content-Encoding': 'gzip' });
      res.end(gzipSync(req.headers['accept-encoding'] ?? ''));
    };
    const caller = await call(await scrubbing(), { headers: { 'Accept-Encoding': 'gzip' } });
    expect([await caller.text(), caller.headers.get('etag')]).toEqual(['gzip', '"5"']);
  });

  it('searches what steps have made of an answer', async () => {
    const token = await gateway.token(card);
    const responseSteps: TransformStep[] = [
      { type: 'append', options: { location: 'body', path: '$.more', value: [1] } },
    ];
    answer = (_, res, body) => res.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
    const caller = await call(await scrubbing({ responseSteps }), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"a":"{{ ${token} }}"}`,
    });
    expect(await caller.json()).toEqual({ a: `{{ ${token} }}`, more: [1] });
  });

  it('answers with the expression where the destination has undone the filters', async () => {
    const secret = 'ghp_16C7e42F292c6912E7';
    const token = await gateway.token(secret);
    answer = (req, res) => {
      const encoded = req.headers.authorization?.replace('Basic ', '') ?? '';
      res.end(`bad password ${Buffer.from(encoded, 'base64').toString().replace('agent:', '')}`);
    };
    const basic = `Basic {{ ${token} | prepend: 'agent:' | to_base64 }}`;
    const caller = await call(await scrubbing(), { headers: { Authorization: basic } });
    expect(await caller.text()).toBe(`bad password {{ ${token} }}`);
  });

  it('answers with the expression where the destination takes the text of an object apart', async () => {
    const token = await gateway.token({ number: '4242424242424242', pin: 123_456 });
    answer = (req, res) => {
      const { number, pin } = JSON.parse(String(req.headers['x-card'])) as Record<string, unknown>;
      res.end(`${String(number)} ${String(pin)}`);
    };
    const headers = { 'X-Card': `{{ ${token} | to_string }}` };
    const caller = await call(await scrubbing(), { headers });
    expect(await caller.text()).toBe(`{{ ${token} }} {{ ${token} }}`);
  });

  it.each([
    ['slice: 0, 3', '`slice` is not for callers'],
    ["slice: 0, 1 | append: 'xyz'", '`slice` is not for callers'],
    ['last4', '`last4` is not for callers'],
    ["replace: 'a', ''", '`replace` is not for callers'],
    ['to_base16 | to_base16', 'encode a value once'],
    [`prepend: '${'a'.repeat(65)}'`, 'at most 64 bytes'],
    [`append: '${'a'.repeat(33)}' | append: '${'a'.repeat(32)}'`, 'at most 64 bytes'],
  ])('refuses %s of a caller, and sends nothing', async (filters, why) => {
    const token = await gateway.token(card);
    const expression = `{{ ${token} | ${filters} }}`;
    const proxyKey = await scrubbing();
    const body = JSON.stringify({ card: expression });
    for (const init of [
      { headers: { 'X-Card': expression } },
      { method: 'POST', headers: { 'Content-Type': 'application/json' }, body },
    ]) {
      const caller = await call(proxyKey, init);
      expect([caller.status, await caller.json()]).toMatchObject([
        400,
        { proxy_error: { code: 'invalid_expression', detail: expect.stringContaining(why) } },
      ]);
    }
    expect(heard).toEqual([]);
  });

  it('lets its steps put in parts of values', async () => {
    const { id: applicationId } = await gateway.revocable(['token:use']);
    const token = await gateway.token(card);
    const value = `{{ ${token} | slice: 0, 9 }}`;
    const requestSteps: TransformStep[] = [
      { type: 'append', options: { location: 'header', name: 'x-begins', value } },
    ];
    answer = (req, res) => res.end(`begins with ${String(req.headers['x-begins'])}`);
    const caller = await call(await scrubbing({ requestSteps, applicationId }));
    expect(await caller.text()).toBe(`begins with ${value}`);
  });

  it('does not take upgraded connections', async () => {
    const more = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const keys = `Host: a\r\nSVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${await scrubbing()}\r\n`;
    const caller = new RawCaller(gateway.port, `GET /proxy HTTP/1.1\r\n${keys}${more}\r\n`);
    await waitFor(() => /^HTTP\/1.1 400 [^]*upgraded connections/.test(caller.text));
    caller.socket.destroy();
  });

  it('sends nothing that it could not look for', async () => {
    const token = await gateway.token('a'.repeat(70_000));
    const caller = await call(await scrubbing(), {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: `{{ ${token} }}`,
    });
    expect(caller.status).toBe(413);
    const long = await call(await scrubbing(), {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: 'b'.repeat(11 * 1024 * 1024),
    });
    expect(long.status).toBe(413);
    expect(heard).toEqual([]);
  });

  it('never gives back random values, wherever the destination cuts its answer', async () => {
    const proxyKey = await scrubbing();
    for (let round = 0; round < 5; round += 1) {
      const value = randomBytes(24).toString(round % 2 === 0 ? 'base64' : 'latin1');
      const token = await gateway.token(value);
      answer = (_, res) => {
        const bytes = Buffer.from(forms(value).concat(value).join(' | '));
        const cut = (bytes.length * round) >> 2;
        res.write(bytes.subarray(0, cut));
        setImmediate(() => res.end(bytes.subarray(cut)));
      };
      const caller = await call(proxyKey, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: `{"a":"{{ ${token} }}"}`,
      });
      const text = await caller.text();
      expect(text).toContain(`{{ ${token} }}`);
      refuseValue(text, value);
    }
  });
});
