import type { RunOutcome } from '@glovebox/sandbox';
import { startDnsServer, type DnsServer } from '@glovebox/testing';
import { specRuntimes, startSpecRunner, type SpecRunner } from './spec-runner';

const names: Readonly<Record<string, readonly string[]>> = {
  'both.test': ['127.0.0.1', '8.8.8.8', '2001:4860::1', '::1'],
  'four.test': ['8.8.8.8', '8.8.4.4'],
  'private.test': ['10.0.0.1', 'fd00::1'],
  'six.test': ['2001:4860::1'],
};

let dns: DnsServer;
let runner: SpecRunner;
beforeAll(async () => {
  dns = await startDnsServer(({ name }) => {
    const addresses = names[name];
    if (name === 'failing.test') return 'failure';
    return addresses ? { addresses } : 'no such name';
  });
  runner = await startSpecRunner({ EGRESS_ALLOW: '127.0.0.1:443', EGRESS_DNS: dns.address });
});
afterAll(async () => {
  await runner.stop();
  await dns.close();
});

const four = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));
const six = { address: '2001:4860::1', family: 6 };
const unknown = (name: string) => `getaddrinfo ENOTFOUND ${name}`;

describe.each(specRuntimes)('dns on %s', (runtime) => {
  /** The outcome of each expression of \`dns\`, as a text where it fails. */
  const outcomeOf = async (expression: string): Promise<unknown> => {
    const code = `const dns = require('dns'); const { promises } = dns; const { promisify } = require('util');
      const back = (call) => new Promise((resolve, reject) => call((error, ...answer) => error ? reject(error) : resolve(answer)));
      module.exports = async () => ({ outcome: await (async () => ${expression})().catch((error) => {
        const text = error.message; const plain = /^ERR_/.test(error.code) ? error.code : text;
        return error.hostname === undefined || (text.includes(error.syscall) && text.includes(error.code)) ? plain : error; }) })`;
    const outcome: RunOutcome = await runner.run(code, { runtime });
    if (outcome.kind !== 'returned') return outcome;
    return (outcome.value as { outcome: unknown }).outcome;
  };

  it.each([
    [`back((done) => dns.lookup('four.test', done))`, ['8.8.8.8', 4]],
    [`back((done) => dns.lookup('six.test', done))`, ['2001:4860::1', 6]],
    [`back((done) => dns.lookup('both.test', 6, done))`, ['2001:4860::1', 6]],
    [`back((done) => dns.lookup('both.test', { family: 6 }, done))`, ['2001:4860::1', 6]],
    [
      `back((done) => dns.lookup('both.test', { all: true, verbatim: true, hints: dns.ADDRCONFIG }, done))`,
      [[...four('127.0.0.1', '8.8.8.8'), six]],
    ],
    [
      `back((done) => dns.lookup('four.test', { all: true, family: 4 }, done))`,
      [four('8.8.8.8', '8.8.4.4')],
    ],
    [`back((done) => dns.lookup('both.test', { order: 'ipv6first' }, done))`, ['2001:4860::1', 6]],
    [`back((done) => dns.lookup('10.0.0.1', done))`, ['10.0.0.1', 4]],
    [`back((done) => dns.lookup('', done))`, [null, 4]],
    [`promises.lookup('four.test')`, { address: '8.8.8.8', family: 4 }],
    [`promises.lookup('both.test', { family: 6, all: true })`, [six]],
    [`require('dns/promises').lookup('both.test', 6)`, six],
    [`promisify(dns.lookup)('four.test')`, { address: '8.8.8.8', family: 4 }],
    [`promisify(dns.lookup)('four.test', { all: true })`, four('8.8.8.8', '8.8.4.4')],
  ])('answers %s', async (expression, answer) => {
    expect(await outcomeOf(expression)).toEqual(answer);
  });

  it.each([
    [`back((done) => dns.lookup('unknown.test', done))`, unknown('unknown.test')],
    [`back((done) => dns.lookup('private.test', { all: true }, done))`, unknown('private.test')],
    [`promises.lookup('localhost', 6)`, unknown('localhost')],
    [`promises.lookup('169.254.43518')`, unknown('169.254.43518')],
    [`promises.lookup('four.test', { family: 6 })`, unknown('four.test')],
    [`promises.lookup('failing.test')`, 'getaddrinfo EAI_AGAIN failing.test'],
    [`promises.lookup('four.test', { family: 5 })`, 'ERR_INVALID_ARG_VALUE'],
    [`promises.lookup(5)`, 'ERR_INVALID_ARG_TYPE'],
    [`dns.lookup('four.test')`, 'ERR_INVALID_ARG_TYPE'],
    [`promises.resolve4('unknown.test')`, 'queryA ENOTFOUND unknown.test'],
    [`promises.resolve4('private.test')`, 'queryA ENOTFOUND private.test'],
    [`promises.resolve6('four.test')`, 'queryAaaa ENODATA four.test'],
    [`promises.resolve4('failing.test')`, 'queryA ESERVFAIL failing.test'],
    [`promises.resolve('four.test', 'MX')`, 'queryMx ENOTIMP four.test'],
    [`promises.resolve('four.test', 'X')`, 'ERR_INVALID_ARG_VALUE'],
    [`back((done) => dns.resolveTxt('four.test', done))`, 'queryTxt ENOTIMP four.test'],
    [`back((done) => dns.reverse('8.8.8.8', done))`, 'getHostByAddr ENOTIMP 8.8.8.8'],
    [`promises.lookupService('8.8.8.8', 53)`, 'getnameinfo ENOTIMP 8.8.8.8'],
    [`new promises.Resolver().resolveSrv('four.test')`, 'querySrv ENOTIMP four.test'],
  ])('fails %s with %s', async (expression, text) => {
    expect(await outcomeOf(expression)).toBe(text);
  });

  it.each([
    [`back((done) => dns.resolve4('four.test', done))`, [['8.8.8.8', '8.8.4.4']]],
    [`back((done) => dns.resolve('both.test', 'AAAA', done))`, [['2001:4860::1']]],
    [`promises.resolve('four.test')`, ['8.8.8.8', '8.8.4.4']],
    [`promises.resolve6('both.test')`, ['2001:4860::1']],
    [
      `promises.resolve4('both.test', { ttl: true })`,
      [
        { address: '127.0.0.1', ttl: 0 },
        { address: '8.8.8.8', ttl: 0 },
      ],
    ],
    [`back((done) => new dns.Resolver().resolve4('four.test', done))`, [['8.8.8.8', '8.8.4.4']]],
    [`new promises.Resolver().resolve('six.test', 'AAAA')`, ['2001:4860::1']],
  ])('answers %s by the same look-up', async (expression, answer) => {
    expect(await outcomeOf(expression)).toEqual(answer);
  });

  it('leaves no way to ask another name server', async () => {
    const expression = `(() => { const own = new promises.Resolver({ timeout: 100, tries: 1 }); own.setServers(['127.0.0.1:53']); dns.setServers(['127.0.0.1:53']);
      return Promise.all([own.resolve4('four.test'), promises.resolve4('four.test')]) })()`;
    expect(await outcomeOf(expression)).toEqual(Array(2).fill(['8.8.8.8', '8.8.4.4']));
  });
});
