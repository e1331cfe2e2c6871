import { Redis } from 'ioredis';
import { stopService } from '@glovebox/service-host';
import { freePort, startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startGateway } from '../../gateway';
import {
  matching,
  openPlainTunnelTo,
  sendConnect,
  startSpecForward,
  type SpecForward,
} from '../../forward/spec-forward';

const perMinute = 20;
let gateway: SpecForward;
let destination: Destination;
let proxyKey: string;
let openKey: string;

beforeAll(async () => {
  gateway = await startSpecForward({
    CALL_RATE_PER_MINUTE: String(perMinute),
    ANONYMOUS_CALL_RATE_PER_MINUTE: String(perMinute),
    TRUSTED_HOPS: '1',
  });
  destination = await startDestination();
  proxyKey = await gateway.proxy(destination.url);
  openKey = await gateway.proxy(destination.url, { requireAuth: false });
});

afterAll(async () => {
  await destination.close();
  await gateway.close();
});

async function get(headers: Record<string, string>, path = '/proxy', url = gateway.url) {
  const answer = await fetch(`${url}${path}`, { headers });
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    text: await answer.text(),
  };
}

const call = (apiKey: string, url?: string) =>
  get({ 'SVC-API-KEY': apiKey, 'SVC-PROXY-KEY': proxyKey }, '/proxy', url);
const anonymous = (client: string) =>
  get({ 'SVC-PROXY-KEY': openKey, 'X-Forwarded-For': `198.51.100.1, ${client}` });

async function react(apiKey: string) {
  const answer = await fetch(`${gateway.url}/reactors/nope/react`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': apiKey, 'Content-Type': 'application/json' },
    body: '{}',
  });
  const body: unknown = await answer.json();
  return { status: answer.status, body, retryAfter: answer.headers.get('retry-after') };
}

const statuses = async (count: number, work: () => Promise<{ readonly status: number }>) => {
  const all: number[] = [];
  for (let nth = 0; nth < count; nth += 1) all.push((await work()).status);
  return all;
};

describe('the rate of an API key', () => {
  it('is answered with 429 and Retry-After above its limit, under proxy_error', async () => {
    const [key, other] = [
      await gateway.application(['token:use']),
      await gateway.application(['token:use']),
    ];
    expect(new Set(await statuses(perMinute, () => call(key)))).toEqual(new Set([200]));
    const forwarded = destination.requests.length;
    const refused = await call(key);
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      429,
      { proxy_error: { title: 'Too many requests.', status: 429, code: 'rate_limited' } },
    ]);
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    expect(Number(refused.retryAfter)).toBeLessThanOrEqual(3);
    expect(destination.requests).toHaveLength(forwarded);
    expect((await call(other)).status).toBe(200);
  });

  it('counts each CONNECT of forward mode, and each request in its tunnel', async () => {
    const key = await gateway.application(['token:use']);
    await gateway.proxy(destination.url, matching([`http://${destination.address}`]));
    const tunnel = await openPlainTunnelTo(gateway, destination.address, key);
    const inTunnel = async () => ({ status: await tunnel.get('/', destination.address) });
    expect(new Set(await statuses(perMinute - 1, inTunnel))).toEqual(new Set([200]));
    const forwarded = destination.requests.length;
    expect(await inTunnel()).toEqual({ status: 429 });
    expect(tunnel.text).toMatch(/retry-after: \d/i);
    expect(tunnel.text).toContain('{"proxy_error":{"title":"Too many requests."');
    const refused = await sendConnect(gateway.forwardPort, destination.address, key);
    expect(await refused.done()).toMatch(/^HTTP\/1\.1 429 [^]*"rate_limited"/);
    expect(destination.requests).toHaveLength(forwarded);
    tunnel.socket.destroy();
  });

  it('counts calls of reactors and of proxies together, and each call once', async () => {
    const key = await gateway.application(['token:use']);
    expect(await statuses(perMinute / 2, () => react(key))).not.toContain(429);
    expect(await statuses(perMinute / 2, () => call(key))).not.toContain(429);
    expect(await react(key)).toMatchObject({
      status: 429,
      body: { title: 'Too many requests.', status: 429, code: 'rate_limited' },
    });
  });

  it('counts calls that later checks refuse, and none with a wrong key', async () => {
    const key = await gateway.application(['token:read']);
    expect(new Set(await statuses(perMinute, () => call(key)))).toEqual(new Set([403]));
    expect((await call(key)).status).toBe(429);
    expect(new Set(await statuses(perMinute + 5, () => call('nobody')))).toEqual(new Set([401]));
  });

  it('is shared by gateways within a moment', async () => {
    const ports = { PORT: await freePort(), OPS_PORT: await freePort() };
    const stopping = new AbortController();
    const other = await startGateway(
      { ...gateway.ctx.config, ...ports },
      { stopping: stopping.signal },
    );
    try {
      const key = await gateway.application(['token:use']);
      await statuses(perMinute, () => call(key));
      let admitted = 0;
      await waitFor(async () => {
        const { status } = await call(key, `http://127.0.0.1:${ports.PORT}`);
        if (status === 200) admitted += 1;
        return status === 429;
      });
      expect(admitted).toBeLessThan(perMinute);
    } finally {
      other.server.closeAllConnections();
      await stopService(other, stopping);
    }
  });

  it('costs Redis a command for many calls', async () => {
    const redis = new Redis(gateway.redis.url);
    const commands = async (): Promise<number> => {
      const stats = await redis.info('commandstats');
      return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    try {
      const key = await gateway.application(['token:use']);
      const before = await commands();
      await statuses(200, () => call(key));
      expect((await commands()) - before).toBeLessThan(100);
    } finally {
      redis.disconnect();
    }
  });
});

describe('the rate of callers without an API key', () => {
  it('is one for each address and proxy, as the trusted hop tells it', async () => {
    expect(await statuses(perMinute, () => anonymous('192.0.2.1'))).not.toContain(429);
    expect((await anonymous('192.0.2.1')).status).toBe(429);
    expect((await anonymous('192.0.2.2')).status).toBe(200);
    const elsewhere = await gateway.proxy(destination.url, { requireAuth: false });
    const headers = { 'SVC-PROXY-KEY': elsewhere, 'X-Forwarded-For': '192.0.2.1' };
    expect((await get(headers)).status).toBe(200);
  });

  it('is one for the 64 bits of an IPv6 network', async () => {
    const own = (nth: number) => anonymous(`2001:db8:0:7::${nth.toString(16)}`);
    const all = await Promise.all(Array.from({ length: perMinute + 5 }, (_, nth) => own(nth + 1)));
    expect(all.filter(({ status }) => status === 429)).toHaveLength(5);
    expect((await anonymous('2001:db8:0:8::1')).status).toBe(200);
  });
});

it('without Redis each gateway limits the calls that it sees itself', async () => {
  const key = await gateway.application(['token:use']);
  await gateway.redis.stop();
  const all = await statuses(perMinute + 5, () => call(key));
  expect(all.filter((status) => status === 429)).toHaveLength(5);
});
