import { ownNamesBy } from '@glovebox/egress';
import { createRunnerClient, type RunnerClient, type RunOutcome } from '@glovebox/sandbox';
import {
  freePort,
  startDnsServer,
  waitFor,
  type DnsAnswer,
  type DnsServer,
} from '@glovebox/testing';
import { plainRun, specSecret, startSpecRunner, type SpecRunner } from '../spec-runner';

const noticedMs = 10_000;
/** The specs that do not measure it wait less. */
const refreshMs = 200;
const hooks = { onCall: () => Promise.reject(new Error('none')) };
const code = `module.exports = async ({ args }) => {
  await new Promise((resolve) => setTimeout(resolve, args.ms));
  return {};
}`;

let port: number;
let dns: DnsServer;
let answer: DnsAnswer;
let runners: Record<string, SpecRunner>;
let client: RunnerClient;

beforeAll(async () => {
  port = await freePort();
  dns = await startDnsServer(({ name, type }) =>
    name === 'runner.test' && type === 'A' ? answer : 'no such name',
  );
});
beforeEach(async () => {
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
  const started = addresses.map(async (address) => {
    const runner = await startSpecRunner({
      RUNNER_LISTEN: `tcp://${address}:${port}`,
      RUNNER_RUNTIMES: 'node20',
    });
    return [address, runner] as const;
  });
  runners = Object.fromEntries(await Promise.all(started));
  answer = { addresses: ['127.0.0.2', '127.0.0.3'] };
  client = clientOf({ refreshMs });
});
afterEach(async () => {
  await client.close();
  await Promise.all(Object.values(runners).map((runner) => runner.stop()));
});
afterAll(() => dns.close());

const clientOf = (times: { readonly refreshMs?: number }): RunnerClient =>
  createRunnerClient({
    urls: [`tcp://runner.test:${port}`],
    resolve: ownNamesBy([dns.address]),
    secret: specSecret,
    ...times,
  });

const run = (resourceId: string, ms = 0): Promise<RunOutcome> =>
  client.run({ ...plainRun, code, codeHash: 'h', resourceId, args: { ms } }, hooks);

/** The addresses of the runners that run one of 12 keys. */
async function atWork(): Promise<readonly string[]> {
  const before = await runsByAddress();
  const outcomes = await Promise.all(Array.from({ length: 12 }, (_, key) => run(`${key}`)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'returned'));
  const after = await runsByAddress();
  return Object.keys(after).filter((address) => after[address] !== before[address]);
}

async function runsByAddress(): Promise<Readonly<Record<string, number>>> {
  const counted = Object.entries(runners).map(async ([address, { ctx }]) => {
    const text = await ctx.registry.metrics();
    const counts = [...text.matchAll(/^glovebox_run_seconds_count\{.*\} (\d+)$/gm)];
    return [address, counts.reduce((sum, [, count]) => sum + Number(count), 0)] as const;
  });
  return Object.fromEntries(await Promise.all(counted));
}

describe('a name of several runners', () => {
  it('stands for each of them, and a new one gets work within 10 s', async () => {
    await client.close();
    client = clientOf({});
    expect(await atWork()).toEqual(['127.0.0.2', '127.0.0.3']);
    answer = { addresses: ['127.0.0.2', '127.0.0.3', '127.0.0.4'] };
    await waitFor(async () => (await atWork()).length === 3, { timeoutMs: noticedMs });
  });

  it('no longer has one that is gone: it gets no new work, and its runs finish', async () => {
    expect(await atWork()).toEqual(['127.0.0.2', '127.0.0.3']);
    const keys = Array.from({ length: 8 }, (_, key) => `long ${key}`);
    const long = keys.map((key) => run(key, 10 * refreshMs));
    answer = { addresses: ['127.0.0.3'] };
    await waitFor(async () => (await atWork()).join() === '127.0.0.3');
    const stopped = runners['127.0.0.2']?.stop();
    const outcomes = await Promise.all(long);
    expect(outcomes.map(({ kind }) => kind)).toEqual(keys.map(() => 'returned'));
    await stopped;
    delete runners['127.0.0.2'];
  });

  it.each<[string, DnsAnswer]>([
    ['fail', 'failure'],
    ['are silent', 'silence'],
    ['know no such name', 'no such name'],
  ])('keeps its runners while name servers %s', async (_, fault) => {
    expect(await atWork()).toEqual(['127.0.0.2', '127.0.0.3']);
    answer = fault;
    const asked = dns.questions.length;
    await waitFor(() => dns.questions.length >= asked + 4);
    expect(await atWork()).toEqual(['127.0.0.2', '127.0.0.3']);
  });
});

it('runners of a name that is not known yet get work as soon as it is', async () => {
  answer = 'no such name';
  const late = clientOf({ refreshMs });
  try {
    expect(await late.ready()).toBe(false);
    answer = { addresses: ['127.0.0.2'] };
    await waitFor(() => late.ready());
  } finally {
    await late.close();
  }
});

it('one of several runners that ended stands in nobody’s way', async () => {
  expect(await atWork()).toEqual(['127.0.0.2', '127.0.0.3']);
  answer = { addresses: ['127.0.0.2', '127.0.0.3', '127.0.0.4'] };
  await waitFor(async () => (await atWork()).length === 3);
  await Promise.all(['127.0.0.2', '127.0.0.4'].map((address) => runners[address]?.stop()));
  delete runners['127.0.0.2'];
  delete runners['127.0.0.4'];
  expect(await atWork()).toEqual(['127.0.0.3']);
});
