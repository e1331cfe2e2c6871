import { startDnsServer, type DnsServer } from '@glovebox/testing';
import { Shares } from '@glovebox/shares';
import { egressOf } from '../__fixtures__/egress';
import type { EgressSettings } from '../policy';

const names: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['8.8.8.8', '2a00:1450::1'],
  'private.test': ['10.0.0.1', 'fd00::1'],
  'mixed.test': ['10.0.0.1', '8.8.4.4', '169.254.169.254'],
  'local.test': ['127.0.0.1'],
};

let dns: DnsServer;
beforeAll(async () => {
  dns = await startDnsServer(({ name }) => {
    if (name === 'silent.test') return 'silence';
    if (name === 'failing.test') return 'failure';
    const addresses = names[name.toLowerCase()];
    return addresses ? { addresses } : 'no such name';
  });
});
afterAll(() => dns.close());

const lookUp = (
  host: string,
  settings: Partial<EgressSettings> = {},
  { places = 8, signal = new AbortController().signal } = {},
): Promise<readonly string[] | string> =>
  egressOf({ dnsServers: [dns.address], ...settings }, { lookups: new Shares({ places }) })
    .lookUp({ owner: 'tenant', host, signal })
    .catch((error: { code?: string }) => error.code ?? 'an error without a code');

describe('a look-up for code', () => {
  it.each([
    ['Public.test', {}, ['8.8.8.8', '2a00:1450::1']],
    ['public.test.', {}, ['8.8.8.8', '2a00:1450::1']],
    ['8.8.8.8', {}, ['8.8.8.8']],
    ['mixed.test', {}, ['8.8.4.4']],
    ['mixed.test', { allow: ['10.0.0.0/8:443'] }, ['10.0.0.1', '8.8.4.4']],
    ['local.test', { allow: ['127.0.0.1:8080'] }, ['127.0.0.1']],
    ['local.test', { allow: ['127.0.0.1:*'] }, ['127.0.0.1']],
  ] as const)('of %s, where %j is set, finds what can be reached', async (host, set, found) => {
    expect(await lookUp(host, set)).toEqual(found);
  });

  it.each([
    ['no such name', 'unknown.test', {}],
    ['private addresses alone', 'private.test', {}],
    ['the address of this machine', 'local.test', {}],
    ['its own name', 'localhost', {}],
    ['a number that is an address', '2130706433', {}],
    ['a metadata service', '169.254.169.254', {}],
    [
      'a service of ours, at its only open port',
      'local.test',
      { allow: ['127.0.0.1:5432'], ownServices: ['127.0.0.1:5432'] },
    ],
    [
      'a machine of ours with all ports',
      'public.test',
      { ownServices: ['8.8.8.8:*', '[2a00:1450::1]:*'] },
    ],
    ['no name at all', 'a b/c', {}],
  ] as const)('says the same of %s', async (_, host, settings) => {
    expect(await lookUp(host, settings)).toBe('ENOTFOUND');
  });

  it('tells a failure of name servers apart from a name that does not exist', async () => {
    expect(await lookUp('failing.test')).toBe('ESERVFAIL');
  });

  it('needs a place of its tenant, and ends with its signal', async () => {
    expect(await lookUp('public.test', {}, { places: 0 })).toBe('service_unavailable');
    const stop = new AbortController();
    const waiting = lookUp('silent.test', {}, { signal: stop.signal });
    stop.abort(Object.assign(new Error(), { code: 'stopped' }));
    expect(await waiting).toBe('stopped');
  });
});
