import { randomUUID } from 'node:crypto';
import { capturePlace, type CapturedMessages } from '@glovebox/captures';
import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let key: string;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination();
  key = await gateway.application(['token:use']);
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
});

interface Row {
  readonly id: string;
  readonly tenant_id: string;
  readonly proxy_id: string;
  readonly status: number | null;
  readonly is_whole: boolean;
  readonly messages: Buffer;
}

const minute = 60_000;

async function capturedProxy(url = destination.url, changes: object = {}, whole = false) {
  const proxy = await gateway.changeableProxy(url, changes);
  await switchOn(proxy.id, minute, whole);
  return proxy;
}

const switchOn = (id: string, ms = minute, whole = false): Promise<void> =>
  gateway.define({
    ...{ kind: 'capture', id, tenantId: gateway.tenantId, whole },
    until: new Date(Date.now() + ms).toISOString(),
  });

const rowsOf = async (proxyId: string): Promise<Row[]> =>
  (await gateway.asAdmin(
    `SELECT * FROM captures WHERE proxy_id = '${proxyId}' ORDER BY id`,
  )) as Row[];

async function opened({ tenant_id, id, messages }: Row): Promise<CapturedMessages> {
  const text = await gateway.ctx.sealer.open(capturePlace(tenant_id, id), messages);
  return JSON.parse(text.toString('utf8')) as CapturedMessages;
}

async function onlyCapture(proxyId: string): Promise<CapturedMessages> {
  await waitFor(async () => (await rowsOf(proxyId)).length > 0);
  const [row] = await rowsOf(proxyId);
  if (!row) throw new Error('no capture');
  return opened(row);
}

const call = (proxyKey: string, path: string, init: RequestInit = {}) =>
  fetch(`${gateway.url}/proxy${path}`, {
    ...init,
    headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...(init.headers as object) },
  });

it('keeps the shape of a call, with its expressions', async () => {
  const proxy = await capturedProxy();
  const card = await gateway.token({ number: '4242424242424242', cvc: '123' });
  const expression = `{{ ${card} | json: '$.number' }}`;
  await call(proxy.key, `/v1/pay?limit=10`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer typed' },
    body: JSON.stringify({ number: expression, cvc: 'raw', ok: true, none: null, sum: 4200 }),
  });
  const messages = await onlyCapture(proxy.id);
  console.log(JSON.stringify(messages, null, 1));
  expect(messages.request).toMatchObject({ method: 'POST', path: '/<string 2>/<string 3>' });
  void randomUUID;
});
