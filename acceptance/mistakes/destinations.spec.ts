import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createAuthority, freePort } from '@glovebox/testing';
import { call, create, revealingApplication, runningProduct, type Answer } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { eachIsTold } from './told';

const product = runningProduct();
const authority = createAuthority();
const closers: Array<() => Promise<unknown>> = [];
let receiver: Receiver;
let application: { id: string };

beforeAll(async () => {
  receiver = await startReceiver((res, { url }) =>
    url.startsWith('/xml')
      ? res.writeHead(200, { 'content-type': 'application/xml' }).end('<card/>')
      : res.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  application = await revealingApplication(product, ['create', 'read', 'use']);
});

afterAll(async () => {
  await receiver.close();
  await Promise.all(closers.map((close) => close()));
});

async function listening(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

const secure = (certificate: { cert: string; key: string }): Promise<number> =>
  listening(createHttpsServer(certificate, (_req, res) => res.writeHead(200).end()));

/** A server that answers the first bytes in its own way. */
const answering = (answer: (socket: Socket) => void): Promise<number> =>
  listening(createServer((socket) => void socket.once('data', () => answer(socket))));

/** Makes a proxy with this destination and calls it. */
async function proxied(
  destination_url: string,
  { proxy = {}, headers = {}, body = '{}' }: Partial<Calling> = {},
): Promise<Answer> {
  const name = `mistake ${randomUUID()}`;
  const { key } = await create(product, '/proxies', { name, destination_url, ...proxy });
  const answer = await fetch(`${product.baseUrl}/proxy`, {
    method: 'POST',
    headers: {
      'SVC-API-KEY': product.privateKey,
      'SVC-PROXY-KEY': String(key),
      'Content-Type': 'application/json',
      ...headers,
    },
    body,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: {} };
}

interface Calling {
  readonly proxy: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const transforming = (code: string) => ({
  proxy: { application: { id: application.id }, request_transform: { code } },
});
const stepping = (side: 'request' | 'response') => ({
  proxy: {
    application: { id: application.id },
    [`${side}_transforms`]: [
      { type: 'tokenize', options: { path: '$.card', token: { type: 'card' } } },
    ],
  },
});

const cause = (phase: string, reason: string): RegExp =>
  new RegExp(`"cause":\\{"phase":"${phase}","reason":"${reason}`);

const secret = 'secret of the destination';

eachIsTold([
  {
    mistake: 'a destination that is down',
    make: async () => proxied(`http://127.0.0.1:${await freePort()}`),
    status: 502,
    says: /"phase":"connect","reason":"refused","address":"127\.0\.0\.1","port":\d+\}/,
  },
  {
    mistake: 'a self-signed certificate',
    make: async () =>
      proxied(`https://127.0.0.1:${await secure(authority.selfSigned('IP:127.0.0.1'))}`),
    status: 502,
    says: cause('tls', 'the certificate is self-signed'),
  },
  {
    mistake: 'a certificate that has expired',
    make: async () => {
      const certificate = authority.issueFor(
        { from: -7_200_000, until: -3_600_000 },
        'IP:127.0.0.1',
      );
      const url = `https://127.0.0.1:${await secure(certificate)}`;
      return proxied(url, { proxy: { certificate_authority: authority.ca } });
    },
    status: 502,
    says: cause('tls', 'the certificate has expired'),
  },
  {
    mistake: 'a certificate for another name',
    make: async () => {
      const url = `https://127.0.0.1:${await secure(authority.issue('DNS:other.test'))}`;
      return proxied(url, { proxy: { certificate_authority: authority.ca } });
    },
    status: 502,
    says: cause('tls', 'the certificate is for another name'),
  },
  {
    mistake: 'a certificate of an authority that the proxy was not told of',
    make: async () => proxied(`https://127.0.0.1:${await secure(authority.issue('IP:127.0.0.1'))}`),
    status: 502,
    says: cause('tls', 'the issuer of the certificate is unknown'),
  },
  {
    mistake: 'http to a port that speaks TLS',
    make: async () => {
      const alert = Buffer.from('15030100020246', 'hex');
      return proxied(`http://127.0.0.1:${await answering((socket) => socket.end(alert))}`);
    },
    status: 502,
    says: cause('first_byte', 'the port speaks TLS, the URL says http'),
  },
  {
    mistake: 'https to a port that speaks plain HTTP',
    make: () => proxied(receiver.url.replace('http:', 'https:')),
    status: 502,
    says: cause('tls', 'the port does not speak TLS, the URL says https'),
  },
  {
    mistake: 'a name with a typing mistake',
    make: () => proxied('https://no-such-name.localdomain.invalid'),
    status: 502,
    says: /"cause":\{"phase":"name","reason":"(?:the name|no name server|the name server)/,
  },
  {
    mistake: 'a destination that hangs up',
    make: async () => proxied(`http://127.0.0.1:${await answering((socket) => socket.end())}`),
    status: 502,
    says: cause('first_byte', 'closed without an answer'),
  },
  {
    mistake: 'a destination that speaks another protocol',
    make: async () =>
      proxied(`http://127.0.0.1:${await answering((socket) => socket.end(secret))}`),
    status: 502,
    says: cause('first_byte', 'the answer is not HTTP/1\\.1'),
  },
  {
    mistake: 'a destination that is too slow for the proxy',
    make: async () => {
      const port = await answering((socket) => {
        socket.resume();
      });
      return proxied(`http://127.0.0.1:${port}`, { proxy: { timeout_ms: 1_000 } });
    },
    status: 504,
    says: cause('first_byte', 'no answer within 1 s'),
  },
  {
    mistake: 'a token that does not exist',
    make: () => proxied(receiver.url, { body: `{"card":"{{ ${randomUUID()} }}"}` }),
    status: 400,
    says: /Not found: [0-9a-f-]{36}.*"cause":\{"phase":"lookup","reason":"a token is unknown/,
  },
  {
    mistake: 'a card that is none, collected by a step',
    make: () =>
      proxied(receiver.url, { ...stepping('request'), body: '{"card":{"number":"4242"}}' }),
    status: 400,
    says: /"errors":\{"\$\.card: data\.number"/,
  },
  {
    mistake: 'a transform that returns nothing',
    make: () => proxied(receiver.url, transforming('module.exports = () => {}')),
    status: 500,
    says: /must return an object with headers or body.*|returned nothing that can be sent/,
  },
  ...['{ raw: {} }', '{}'].map((returned) => ({
    mistake: `a transform that returns ${returned}, and sends nothing`,
    make: async () => {
      const before = receiver.received.length;
      const answer = await proxied(
        receiver.url,
        transforming(`module.exports = () => (${returned})`),
      );
      expect(receiver.received).toHaveLength(before);
      return answer;
    },
    status: 500,
    says: /"proxy_error".*must return an object with headers or body.*"phase":"transform","reason":"the request transform returned nothing that can be sent"/,
  })),
  {
    mistake: 'a transform that throws',
    make: () =>
      proxied(receiver.url, transforming('module.exports = () => { throw new Error("mine") }')),
    status: 500,
    says: cause('transform', 'the request transform threw'),
  },
  {
    mistake: 'multipart under a transform',
    make: () =>
      proxied(receiver.url, {
        ...transforming('module.exports = (req) => req.args'),
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        body: '--x--\r\n',
      }),
    status: 415,
    says: /Transforms take JSON, forms and text/,
  },
  {
    mistake: 'an XML answer under response steps',
    make: () => proxied(`${receiver.url}/xml`, stepping('response')),
    status: 502,
    says: /"code":"destination_answer_invalid","detail":"The answer is application\/xml; the request was delivered \(200\)\./,
  },
]);

it('an anonymous caller is told none of it', async () => {
  const destination_url = `http://127.0.0.1:${await freePort()}`;
  const name = `mistake ${randomUUID()}`;
  const body = { name, destination_url, require_auth: false };
  const { key } = await create(product, '/proxies', body);
  const answer = await call('GET', `${product.baseUrl}/proxy`, {
    headers: { 'SVC-PROXY-KEY': String(key) },
  });
  expect(answer.body).toEqual({
    proxy_error: {
      title: 'The destination cannot be reached.',
      status: 502,
      code: 'destination_unreachable',
    },
  });
});
