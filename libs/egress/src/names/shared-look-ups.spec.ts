import { startDnsServer, waitFor, type DnsServer } from '@glovebox/testing';
import { Shares } from '@glovebox/shares';
import { egressOf } from '../__fixtures__/egress';
import { startTcpServer, type Listening } from '../__fixtures__/servers';

let dns: DnsServer;
let server: Listening;

beforeAll(async () => {
  dns = await startDnsServer(({ name }) =>
    name.endsWith('silent.test') ? 'silence' : { addresses: ['127.0.0.1'] },
  );
  server = await startTcpServer((socket) => socket.end());
});
afterEach(() => {
  dns.questions.length = 0;
});
afterAll(async () => {
  await server.close();
  await dns.close();
});

/** Makes an egress with this many places for look-ups, and a caller of it. */
function egressWith(places: number) {
  const lookups = new Shares({ places });
  const settings = { allow: ['127.0.0.1:*'], dnsServers: [dns.address] };
  const egress = egressOf(settings, { lookups });
  const dial = (owner: string, host: string, signal?: AbortSignal) =>
    egress
      .dial({ owner, host, port: server.port, tls: false, signal })
      .then((socket) => {
        socket.destroy();
        return 'connected';
      })
      .catch((error: { code?: string }) => error.code ?? String(error));
  return { dial, lookups };
}

describe('look-ups of names', () => {
  it('of one tenant whose name servers are silent leave room for those of another', async () => {
    const { dial, lookups } = egressWith(256);
    const silent = Array.from({ length: 400 }, (_, nth) => dial('attacker', `${nth}.silent.test`));
    await waitFor(() => dns.questions.length > 0);
    expect(lookups.heldBy('attacker')).toBe(128);
    for (const host of ['one.test', 'two.test', 'three.test']) {
      expect(await dial('victim', host)).toBe('connected');
    }
    const ends = await Promise.all(silent);
    expect(ends.filter((end) => end === 'share_exhausted')).toHaveLength(272);
    expect(ends.filter((end) => end === 'ETIMEOUT')).toHaveLength(128);
    expect(lookups.state.held).toBe(0);
  });

  it('of one tenant for one name are one look-up', async () => {
    const { dial, lookups } = egressWith(8);
    const dials = Array.from({ length: 50 }, () => dial('a', 'shared.test'));
    expect(lookups.heldBy('a')).toBe(1);
    expect(new Set(await Promise.all([...dials, dial('b', 'shared.test')]))).toEqual(
      new Set(['connected']),
    );
    expect(dns.questions.map(({ type }) => type).sort()).toEqual(['A', 'A', 'AAAA', 'AAAA']);
    expect(lookups.state.held).toBe(0);
  });

  it('go on for the other waiters when one leaves, and end with the last of them', async () => {
    const { dial, lookups } = egressWith(8);
    const [first, second] = [new AbortController(), new AbortController()];
    const dials = [first, second].map(({ signal }) => dial('a', 'both.silent.test', signal));
    await waitFor(() => dns.questions.length > 0);
    first.abort(Object.assign(new Error(), { code: 'left' }));
    expect(await dials[0]).toBe('left');
    expect(lookups.heldBy('a')).toBe(1);
    second.abort(Object.assign(new Error(), { code: 'left too' }));
    expect(await dials[1]).toBe('left too');
    await waitFor(() => lookups.state.held === 0, { timeoutMs: 1_000 });
  });

  it('cannot be joined once nobody waits for them', async () => {
    const { dial } = egressWith(8);
    const leaving = new AbortController();
    const left = dial('a', 'again.test', leaving.signal);
    leaving.abort(Object.assign(new Error(), { code: 'left' }));
    expect([await left, await dial('a', 'again.test')]).toEqual(['left', 'connected']);
  });
});
