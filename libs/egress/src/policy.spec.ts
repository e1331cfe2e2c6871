import { networkInterfaces } from 'node:os';
import { OwnServices } from './own-services';
import { EgressUnreachable } from './refusal';
import { judge, parseEgressPolicy, type EgressSettings } from './policy';

const settings: EgressSettings = { allow: [], allowHttp: false, ownServices: [], dnsServers: [] };

async function verdictOf(
  parts: Partial<EgressSettings>,
  address: string,
  port: number,
): Promise<string> {
  const policy = parseEgressPolicy({ ...settings, ...parts });
  const own = new OwnServices(policy.ownServices, () => Promise.resolve([]));
  await own.refresh();
  return judge(policy, own, address, port);
}

/** Our own services under names, with the look-up that the system would do. */
function namedServices(ownServices: readonly string[], answer: () => readonly string[]) {
  const policy = parseEgressPolicy({
    ...settings,
    allow: ['0.0.0.0/0:*', '[::/0]:*'],
    ownServices,
  });
  const own = new OwnServices(policy.ownServices, async () => answer());
  return { own, verdict: (address: string, port: number) => judge(policy, own, address, port) };
}

afterEach(() => jest.restoreAllMocks());

describe('EGRESS_ALLOW', () => {
  it.each([
    ...['localhost:80', 'example.com:443', '10.0.0.1', '10.0.0.1:', '10.0.0.1:0', '10.0.0.1:65536'],
    ...['10.0.0.1:80-90', '10.0.0.0/33:80', '10.0.0:80', '256.0.0.1:80', '::1:443', '[::1]', ''],
    ...[
      '[10.0.0.1]:80',
      '[fe80::1%eth0]:80',
      '[::/129]:80',
      '[::1]/128:80',
      '10.0.0.1:80 ',
      '*:80',
    ],
  ])('refuses the entry "%s" at start, by name', (entry) => {
    expect(() => parseEgressPolicy({ ...settings, allow: [entry] })).toThrow(
      `EGRESS_ALLOW: "${entry}" is not ip:port or cidr:port`,
    );
  });

  it.each([
    ['127.0.0.1', 80, 'address'],
    ['8.8.8.8', 80, 'public'],
    ['10.1.2.3', 8080, 'named'],
    ['10.1.2.3', 8081, 'address'],
    ['::ffff:10.1.2.3', 8080, 'named'],
    ['::ffff:a01:203', 8080, 'named'],
    ['::ffff:8.8.8.8', 443, 'address'],
    // EGRESS_ALLOW did not name the address that a translator would make of it.
    ['64:ff9b::a01:203', 8080, 'address'],
    ['2002:a01:203::1', 8080, 'address'],
    ['::10.1.2.3', 8080, 'address'],
    ['fd12::1', 9, 'named'],
    ['fe80::1%eth0', 9, 'address'],
  ])('%s port %d is %s', async (address, port, expected) => {
    const allow = ['10.1.2.3:8080', '[fd00::/8]:*', '[fe80::/10]:*'];
    expect(await verdictOf({ allow }, address, port)).toBe(expected);
  });
});

describe('our own services', () => {
  const allow = ['0.0.0.0/0:*', '[::/0]:*'];
  const [own4] = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);

  it.each([
    ['10.0.0.5:5432', '10.0.0.5', 5432],
    ['10.0.0.5:5432', '::ffff:10.0.0.5', 5432],
    ['10.0.0.5:5432', '::10.0.0.5', 5432],
    ['10.0.0.5:5432', '64:ff9b::a00:5', 5432],
    ['10.0.0.5:5432', '2002:a00:5::1', 5432],
    ['postgres://user:pass@10.0.0.5/db', '10.0.0.5', 5432],
    ['postgresql://user:pass@10.0.0.5:6543/db', '10.0.0.5', 6543],
    ['redis://10.0.0.5', '10.0.0.5', 6379],
    ['rediss://:pass@[fd00::5]:6380/0', 'fd00:0::5', 6380],
    ['http://10.0.0.5', '10.0.0.5', 80],
    ['https://10.0.0.5', '10.0.0.5', 443],
    ['tcp://10.0.0.5:9000', '10.0.0.5', 9000],
    ['tcp://[fd00::5]:9000', 'fd00::5', 9000],
    ['[fd00::5]:9000', 'FD00::5', 9000],
    ['10.1.0.0/16:5432', '10.1.9.9', 5432],
    ['10.0.0.5:*', '10.0.0.5', 1],
    ['localhost:5432', '127.0.0.1', 5432],
    ['postgres://localhost/db', '127.9.9.9', 5432],
    ['127.0.0.1:8081', '127.0.0.2', 8081],
    ['127.0.0.1:8081', '0.0.0.0', 8081],
    ['127.0.0.1:8081', '::1', 8081],
    ['127.0.0.1:8081', '::', 8081],
    ['127.0.0.1:8081', '::ffff:127.0.0.1', 8081],
    ['127.0.0.1:8081', '::ffff:0:0', 8081],
    ['0.0.0.0:8080', '127.0.0.1', 8080],
    ['[::]:8080', '127.0.0.1', 8080],
    ['[::1]:8080', '127.0.0.1', 8080],
    ...(own4 ? [['0.0.0.0:8080', own4, 8080] as [string, string, number]] : []),
    ...(own4 ? [[`${own4}:8080`, '127.0.0.1', 8080] as [string, string, number]] : []),
  ])(
    'with %s are refused at %s port %d although EGRESS_ALLOW lists it',
    async (own, address, port) => {
      expect(await verdictOf({ allow, ownServices: [own] }, address, port)).toBe('own_service');
    },
  );

  it.each([
    ['10.0.0.5:5432', '10.0.0.5', 5433],
    ['10.0.0.5:5432', '10.0.0.6', 5432],
    ['127.0.0.1:8081', '127.0.0.1', 8082],
    ['127.0.0.1:8081', '10.0.0.5', 8081],
    ['unix:/run/runner.sock', '127.0.0.1', 80],
    ['postgres:///db?host=/run/postgresql', '127.0.0.1', 5432],
  ])('with %s are not %s port %d', async (own, address, port) => {
    expect(await verdictOf({ allow, ownServices: [own] }, address, port)).toBe('named');
  });

  it('are found at the addresses of their names, each by its port', async () => {
    const { own, verdict } = namedServices(['a.internal:1000', 'redis://b.internal'], () => [
      '10.0.0.5',
      '127.0.0.1',
    ]);
    expect(verdict('10.0.0.5', 1000)).toBe('named');
    await own.refresh();
    expect(verdict('10.0.0.5', 1000)).toBe('own_service');
    expect(verdict('10.0.0.5', 6379)).toBe('own_service');
    expect(verdict('::1', 6379)).toBe('own_service');
    expect(verdict('10.0.0.5', 1001)).toBe('named');
  });

  it('keep their last known addresses when their name can no longer be looked up', async () => {
    let isBroken = false;
    const { own, verdict } = namedServices(['a.internal:1000'], () => {
      if (isBroken) throw new EgressUnreachable('EAI_AGAIN', 'name');
      return ['10.0.0.5'];
    });
    await own.refresh();
    isBroken = true;
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    await own.refresh();
    expect(verdict('10.0.0.5', 1000)).toBe('own_service');
  });

  it('let nothing out until their names were looked up once, unless they have none', async () => {
    const broken = namedServices(['a.internal:1000'], () => {
      throw new EgressUnreachable('EAI_AGAIN', 'name');
    });
    await expect(broken.own.refresh()).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    const absent = namedServices(['a.internal:1000'], () => {
      throw new EgressUnreachable('ENOTFOUND', 'name');
    });
    await absent.own.refresh();
    expect(absent.verdict('10.0.0.5', 1000)).toBe('named');
  });

  it('are looked up once for all waiters, and not again for a while', async () => {
    let lookUps = 0;
    const { own } = namedServices(['a.internal:1', 'a.internal:2'], () => {
      lookUps += 1;
      return ['10.0.0.5'];
    });
    await Promise.all([own.refresh(), own.refresh()]);
    await own.refresh();
    expect(lookUps).toBe(1);
  });

  it.each([
    'nonsense',
    'host:0',
    'host:99999',
    'tcp://host',
    'postgres://u:hunter2@a:b:c/d',
    'a b:1',
  ])('with an unreadable entry (%s) fail the start without showing it', (entry) => {
    const parse = () => parseEgressPolicy({ ...settings, ownServices: ['10.0.0.1:1', entry] });
    expect(parse).toThrow('own services: entry 2 is neither host:port nor a URL with a port');
  });
});

it.each(['dns.example', '10.0.0.1:x', '10.0.0'])('EGRESS_DNS refuses "%s"', (server) => {
  expect(() => parseEgressPolicy({ ...settings, dnsServers: [server] })).toThrow(
    `EGRESS_DNS: "${server}" is not ip or ip:port`,
  );
});
