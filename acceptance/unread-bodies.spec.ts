import { connect, type Socket } from 'node:net';
import { create, runningProduct, type Product } from './product';
import { answersIn, rawPlaces } from './raw-socket';
import { startReceiver, type Receiver } from './receiver';

/** Every server of the product that may answer before it has read the body. */
const product = runningProduct() as Product & {
  readonly managementUrl: string;
  readonly forwardUrl: string;
  readonly opsUrls: Readonly<Record<string, string>>;
};
const { baseUrl, managementUrl, forwardUrl, opsUrls, adminKey, privateKey } = product;
const MiB = 1024 * 1024;
const json = 'Content-Type: application/json\r\n';
const asAdmin = `SVC-API-KEY: ${adminKey}\r\n${json}`;
const asUser = `SVC-API-KEY: ${privateKey}\r\n${json}`;
let destination: Receiver;
let places: Awaited<ReturnType<typeof rawPlaces>>;
let transformed: string;
let asPage: string;

beforeAll(async () => {
  destination = await startReceiver();
  places = await rawPlaces(product, destination.url);
  const proxy = await create(product, '/proxies', {
    name: 'unread',
    destination_url: destination.url,
    request_transform: { code: 'module.exports = async ({ args }) => args' },
  });
  transformed = `SVC-PROXY-KEY: ${String(proxy.key)}\r\n`;
  const page = await create(product, '/applications', {
    name: 'unread',
    type: 'public',
    permissions: ['token:create'],
    allowed_origins: ['https://unread.example'],
  });
  asPage = `SVC-API-KEY: ${String(page.key)}\r\nOrigin: https://other.example\r\n${json}`;
});
afterAll(() => destination.close());

interface Door {
  readonly url: string;
  readonly path: string;
  readonly headers: string;
  readonly bytes: number;
}

const door = (url: string | undefined, path: string, headers: string, bytes = 12 * MiB): Door => ({
  ...{ url: url ?? '', path, headers, bytes },
});

const framings = {
  length: (bytes: number) => `Content-Length: ${bytes}\r\n`,
  chunks: () => 'Transfer-Encoding: chunked\r\n',
  expectation: (bytes: number) => `Content-Length: ${bytes}\r\nExpect: 100-continue\r\n`,
};
type Framing = keyof typeof framings;

const piece = Buffer.alloc(MiB, ' ');

/** Sends the whole request before it reads. Returns the status, or the fault in its place. */
async function statusForWhoWritesFirst(
  { url, path, headers, bytes }: Door,
  framing: Framing,
  connection: string,
): Promise<number | string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).pause();
  let fault = '';
  let text = '';
  socket.on('error', ({ message }) => (fault = message));
  const closed = comes(socket, 'close');
  const say = async (part: Buffer | string): Promise<void> => {
    if (fault === '' && !socket.write(part)) await Promise.race([comes(socket, 'drain'), closed]);
  };
  const framed = framings[framing](bytes);
  await say(
    `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}${framed}Connection: ${connection}\r\n\r\n`,
  );
  for (let sent = 0; sent < bytes; sent += piece.length) {
    const part = piece.subarray(0, Math.min(piece.length, bytes - sent));
    if (framing === 'chunks') await say(`${part.length.toString(16)}\r\n`);
    await say(part);
    if (framing === 'chunks') await say('\r\n');
  }
  if (framing === 'chunks') await say('0\r\n\r\n');
  const isWhole = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (statusOf(text) !== undefined) resolve();
    });
  });
  await Promise.race([isWhole, closed, comes(socket.resume(), 'end')]);
  socket.destroy();
  return statusOf(text) ?? `${fault || 'no answer'}: ${text}`;
}

const comes = (socket: Socket, event: string): Promise<void> =>
  new Promise((resolve) => void socket.once(event, resolve));

function statusOf(text: string): number | undefined {
  try {
    return answersIn(text)[0]?.status;
  } catch {
    return undefined;
  }
}

const doors: readonly (readonly [string, number, () => Door])[] = [
  ['a proxy without its key', 400, () => door(baseUrl, '/proxy', asUser)],
  ['a proxy without an API key', 401, () => door(baseUrl, '/proxy', json + transformed)],
  ['a transform', 413, () => door(baseUrl, '/proxy', asUser + transformed)],
  [
    'a transform, by one byte',
    413,
    () => door(baseUrl, '/proxy', asUser + transformed, 10 * MiB + 1),
  ],
  ['a reactor', 413, () => door(baseUrl, places['/react'].path, asUser)],
  ['a reactor that is not there', 404, () => door(baseUrl, '/reactors/none/react', asUser)],
  ['the front door', 413, () => door(baseUrl, '/applications', asAdmin, 18 * MiB)],
  ['the front door, for a document', 413, () => door(baseUrl, '/tokenize', asUser, 18 * MiB)],
  ['the front door, with 5 MiB', 413, () => door(baseUrl, '/applications', asAdmin, 5 * MiB)],
  ['the front door without a key', 401, () => door(baseUrl, '/applications', json)],
  ['the front door, at no path', 404, () => door(baseUrl, '/none', asAdmin)],
  ['the front door, to a page of another origin', 403, () => door(baseUrl, '/tokens', asPage)],
  ['the health of the gateway', 405, () => door(baseUrl, '/health/live', '')],
  ['the gateway, with two lengths', 400, () => door(baseUrl, '/proxy', 'Content-Length: 5\r\n')],
  ['the gateway, with a broken head', 400, () => door(baseUrl, '/proxy', 'no colon\r\n')],
  ['forward mode without a key', 407, () => door(forwardUrl, 'http://a/path', json)],
  ['the management API', 413, () => door(managementUrl, '/applications', asAdmin)],
  ['the management API without a key', 401, () => door(managementUrl, '/applications', json)],
  ['the management API, at no path', 404, () => door(managementUrl, '/none', asAdmin)],
  ...['gateway', 'management-api', 'worker', 'runner'].map(
    (app) => [`the metrics of the ${app}`, 200, () => door(opsUrls[app], '/metrics', '')] as const,
  ),
];

describe.each(doors)('an answer of %s before the end of the body', (_, status, place) => {
  it.each(['keep-alive', 'close'])(
    'reaches a caller that writes all of it first (connection: %s)',
    async (connection) => {
      const asked = (['length', 'chunks', 'expectation'] as const).flatMap((framing) =>
        Array.from({ length: 8 }, () => statusForWhoWritesFirst(place(), framing, connection)),
      );
      expect(await Promise.all(asked)).toEqual(asked.map(() => status));
    },
  );
});
