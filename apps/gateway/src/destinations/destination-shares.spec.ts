import { randomUUID } from 'node:crypto';
import { startDestination, startDnsServer, waitFor } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { startRawServer } from '../spec-sockets';

type Closing = { close(): Promise<void> };

const [attacker, victim] = [randomUUID(), randomUUID()];
let gateway: SpecGateway;
let keys: Record<string, string>;
const opened: Closing[] = [];
const opening = <Opened extends Closing>(what: Opened): Opened => {
  opened.unshift(what);
  return what;
};

/** Starts a gateway with eight places of each kind. A tenant alone gets four of them. */
async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = opening(
    await startSpecGateway({
      DESTINATIONS_MAX: '8',
      DESTINATION_CONNECTIONS_MAX: '8',
      EGRESS_LOOKUPS_MAX: '8',
      ...environment,
    }),
  );
  keys = {
    [attacker]: await gateway.application(['token:use'], attacker),
    [victim]: await gateway.application(['token:use'], victim),
  };
}
afterEach(async () => {
  for (const what of opened.splice(0)) await what.close();
});

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | null;
}

/** Makes a proxy of the tenant, and a function that calls it. */
async function caller(tenantId: string, url: string): Promise<() => Promise<Answer>> {
  const proxyKey = await gateway.proxy(url, { tenantId });
  return async () => {
    const answer = await fetch(`${gateway.url}/proxy`, {
      headers: { 'SVC-API-KEY': keys[tenantId] ?? '', 'SVC-PROXY-KEY': proxyKey },
    });
    const body = await answer.text();
    const { proxy_error } = (answer.ok ? {} : JSON.parse(body)) as {
      proxy_error?: { code: string };
    };
    const retryAfter = answer.headers.get('retry-after');
    return { status: answer.status, code: proxy_error?.code, retryAfter };
  };
}

const exhausted = { status: 429, code: 'share_exhausted', retryAfter: '1' };

/** Starts destinations that do not answer until they are released. */
async function hanging(count: number) {
  const held: Array<() => void> = [];
  let isReleased = false;
  const servers = await Promise.all(
    Array.from({ length: count }, () =>
      startDestination((_, response) => {
        if (isReleased) response.end();
        else held.push(() => response.end('late'));
      }),
    ),
  );
  servers.forEach(opening);
  const release = (): void => {
    isReleased = true;
    for (const end of held) end();
  };
  return { urls: servers.map(({ url }) => url), held, release };
}

describe('a tenant whose destinations hang', () => {
  it('gets 429 above its share of destinations, while another tenant calls old and new ones', async () => {
    await start({ DESTINATION_CONNECTIONS_MAX: '100' });
    const { urls, held, release } = await hanging(6);
    const [known, fresh] = [opening(await startDestination()), opening(await startDestination())];
    const callKnown = await caller(victim, known.url);
    expect((await callKnown()).status).toBe(200);

    const calls = await Promise.all(urls.map((url) => caller(attacker, url)));
    const answers = calls.map((call) => call());
    await waitFor(() => held.length === 4);
    expect(await Promise.race(answers)).toEqual(exhausted);
    expect((await (await caller(victim, fresh.url))()).status).toBe(200);
    for (let nth = 0; nth < 20; nth += 1) expect((await callKnown()).status).toBe(200);

    release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  });

  it('gets 429 above its share of connections, while another tenant connects', async () => {
    await start();
    const { urls, held, release } = await hanging(1);
    const call = await caller(attacker, urls[0] ?? '');
    const answers = Array.from({ length: 4 }, () => call());
    await waitFor(() => held.length === 4);
    // More failures than a destination may have before its breaker opens.
    for (let nth = 0; nth < 12; nth += 1) expect(await call()).toEqual(exhausted);
    const callOther = await caller(victim, opening(await startDestination()).url);
    expect((await callOther()).status).toBe(200);

    release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect((await call()).status).toBe(200);
  });

  it('gets 429 above its share of look-ups, while another tenant finds its destination', async () => {
    const dns = opening(
      await startDnsServer(({ name }) =>
        name.endsWith('silent.test') ? 'silence' : { addresses: ['127.0.0.1'] },
      ),
    );
    await start({ EGRESS_DNS: dns.address });
    const silent = await Promise.all(
      Array.from({ length: 6 }, (_, nth) => caller(attacker, `http://${nth}.silent.test`)),
    );
    const answers = silent.map((call) => call());
    expect(await Promise.race(answers)).toEqual(exhausted);
    const { url } = opening(await startDestination());
    const callOther = await caller(victim, url.replace('127.0.0.1', 'found.test'));
    expect((await callOther()).status).toBe(200);
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([429, 429, 502, 502, 502, 502]);
  });
});

describe('a tenant at its share', () => {
  /** Keeps its connections open for longer than the test takes. */
  const keeping = async () =>
    opening(
      await startRawServer((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 0\r\n\r\n'),
      ),
    );
  const open = ({ connections }: Awaited<ReturnType<typeof keeping>>): number =>
    connections.filter(({ ended }) => !ended).length;

  it('makes room with its own destination that was idle longest, never with a foreign one', async () => {
    await start();
    const servers = await Promise.all(Array.from({ length: 5 }, keeping));
    const foreign = await keeping();
    expect((await (await caller(victim, foreign.url))()).status).toBe(200);
    const calls = await Promise.all(servers.map(({ url }) => caller(attacker, url)));
    for (const call of calls.slice(0, 4)) expect((await call()).status).toBe(200);
    expect((await calls[0]?.())?.status).toBe(200);
    expect((await calls[4]?.())?.status).toBe(200);
    await waitFor(() => servers.map(open).join() === '1,0,1,1,1');
    expect(open(foreign)).toBe(1);
  });

  it('makes room with its own idle connections', async () => {
    await start({ DESTINATION_CONNECTIONS_MAX: '2' });
    const [first, second] = [await keeping(), await keeping()];
    const foreign = await keeping();
    expect((await (await caller(victim, foreign.url))()).status).toBe(200);
    expect((await (await caller(attacker, first.url))()).status).toBe(200);
    expect((await (await caller(attacker, second.url))()).status).toBe(200);
    await waitFor(() => open(first) === 0);
    expect([open(second), open(foreign)]).toEqual([1, 1]);
  });

  it('leaves room for a newcomer, whom everybody’s idle connections give way to', async () => {
    await start({ DESTINATIONS_MAX: '1', DESTINATION_CONNECTIONS_MAX: '1' });
    const [first, second] = [await keeping(), await keeping()];
    expect((await (await caller(attacker, first.url))()).status).toBe(200);
    expect((await (await caller(victim, second.url))()).status).toBe(200);
    await waitFor(() => open(first) === 0);
  });
});
