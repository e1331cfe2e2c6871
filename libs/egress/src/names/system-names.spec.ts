import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDnsServer, type DnsServer } from '@glovebox/testing';
import { resolveName } from './resolve';
import { SystemNames } from './system-names';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-names-'));
const [hosts, resolvConf] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
let dns: DnsServer;
const known: Record<string, string> = {
  'plain.test': '192.0.2.1',
  'postgres.glovebox.svc.cluster.local': '10.0.0.5',
  'cache.other.svc.cluster.local': '10.0.0.6',
};

beforeAll(async () => {
  dns = await startDnsServer(({ name }) => {
    const address = known[name];
    return address === undefined ? 'no such name' : { addresses: [address] };
  });
});
beforeEach(() => {
  dns.questions.length = 0;
  writeFileSync(hosts, '');
  writeFileSync(resolvConf, `nameserver ${dns.address}\n`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await dns.close();
});

const system = new SystemNames(hosts, resolvConf);
const addressesOf = (name: string) => resolveName(name, system);
const asked = () => [...new Set(dns.questions.map(({ name }) => name))];

const clusterSearch = 'search glovebox.svc.cluster.local svc.cluster.local cluster.local\n';
const cluster = (options = 'options ndots:5\n'): void => {
  writeFileSync(resolvConf, `nameserver ${dns.address}\n${clusterSearch}${options}`);
};

describe('a name without EGRESS_DNS', () => {
  it('is asked for at the name servers of /etc/resolv.conf', async () => {
    expect(await addressesOf('plain.test')).toEqual(['192.0.2.1']);
    expect(asked()).toEqual(['plain.test']);
  });

  it('is asked for at the readable servers, whatever else the file holds', async () => {
    writeFileSync(
      resolvConf,
      `nameserver\nnameserver dns.test\nnameserver ${dns.address} # ours\n`,
    );
    expect(await addressesOf('plain.test')).toEqual(['192.0.2.1']);
  });

  it('in /etc/hosts has the addresses of the file, and no server is asked', async () => {
    writeFileSync(hosts, '# ours\n10.0.0.1 plain.test Alias # last\n\n::7 alias\nno-address x\n');
    expect(await addressesOf('plain.test')).toEqual(['10.0.0.1']);
    expect(await addressesOf('alias')).toEqual(['10.0.0.1', '::7']);
    expect(asked()).toEqual([]);
  });

  it('is found by the present content of /etc/hosts', async () => {
    writeFileSync(hosts, '10.0.0.1 moves.test\n');
    expect(await addressesOf('moves.test')).toEqual(['10.0.0.1']);
    writeFileSync(hosts, '10.0.0.22 moves.test\n');
    expect(await addressesOf('moves.test')).toEqual(['10.0.0.22']);
    rmSync(hosts);
    await expect(addressesOf('moves.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('needs neither file nor server if it is localhost', async () => {
    rmSync(resolvConf);
    expect(await addressesOf('localhost')).toEqual(['127.0.0.1']);
    expect(await addressesOf('app.localhost.')).toEqual(['127.0.0.1']);
  });

  it('of a cluster is found in its search domains', async () => {
    cluster();
    expect(await addressesOf('postgres')).toEqual(['10.0.0.5']);
    expect(await addressesOf('cache.other')).toEqual(['10.0.0.6']);
    expect(asked()).toEqual([
      'postgres.glovebox.svc.cluster.local',
      'cache.other.glovebox.svc.cluster.local',
      'cache.other.svc.cluster.local',
    ]);
  });

  it.each([
    ['fewer dots than ndots: last', 'options ndots:5\n', 'plain.test', 4],
    ['as many dots as ndots: first', '', 'plain.test', 1],
    ['a dot at its end: nothing else', 'options ndots:5\n', 'plain.test.', 1],
  ])('is asked for unchanged with %s', async (_, options, name, questions) => {
    cluster(options);
    expect(await addressesOf(name)).toEqual(['192.0.2.1']);
    expect(asked()).toHaveLength(questions);
    expect(asked().at(-1)).toBe('plain.test');
  });

  it('is asked for in at most eight search domains', async () => {
    const domains = Array.from({ length: 40 }, (_, nth) => `d${nth}.test`).join(' ');
    writeFileSync(resolvConf, `nameserver ${dns.address}\nsearch ${domains}\n`);
    await expect(addressesOf('nowhere')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(asked()).toHaveLength(9);
  });
});
