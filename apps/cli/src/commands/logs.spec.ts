import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { contextOf } from '../context';
import { interruptionsOf } from '../run/spec-lender';
import { logs } from './logs';

interface Call {
  readonly id: string;
  readonly ended_at: string;
}

interface Run {
  readonly id: string;
  readonly created_at: string;
  status: string;
  ended_at?: string;
}

/** The logs of a Glovebox whose clock a spec sets. */
let server: Destination;
let now: number;
let calls: Call[];
let runs: Run[];
let isSilent: boolean;
beforeEach(async () => {
  isSilent = false;
  now = Date.now();
  calls = [];
  runs = [];
  server = await startDestination(({ url }, response) => {
    if (isSilent) return;
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    const isWithin = (at: string): boolean =>
      !(Date.parse(at) < Number(from)) && !(Date.parse(at) > Number(to));
    const data =
      pathname === '/calls'
        ? calls.filter((call) => isWithin(call.ended_at))
        : runs.filter((run) => isWithin(run.created_at));
    response.writeHead(200, {
      ...{ 'Content-Type': 'application/json', Date: new Date(now).toUTCString() },
    });
    response.end(JSON.stringify({ data, pagination: { page_size: 100 } }));
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.close();
});

const isoIn = (ms: number): string => new Date(ms).toISOString();
const inSeconds = (seconds: number): string => isoIn(now + seconds * 1_000);
const looks = (log: string): number =>
  server.requests.filter(({ url }) => url.startsWith(`/${log}?`)).length;

/** Follows until the work is done, and returns the ids in the order in which they were shown. */
async function following(
  only: 'calls' | 'runs',
  work: (shown: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const { interruptions } = interruptionsOf();
  const shown: string[] = [];
  const write = (text: string) => shown.push((JSON.parse(text) as Call).id) > 0;
  const output = { isTTY: false, write } as unknown as NodeJS.WriteStream & { fd: 1 };
  const context = contextOf(
    { json: true, color: false },
    { GLOVEBOX_URL: server.url, GLOVEBOX_KEY: 'key_of_tests', HOME: '/nowhere' },
    { cwd: () => '/', stdout: output, stderr: process.stderr },
    interruptions,
  );
  const followed = logs(context, { follow: true, only, since: '10' });
  await work(shown);
  interruptions.end();
  await followed;
  return shown;
}

/** Waits until it has looked again, by what it has been told so far. */
async function nextLook(log: string): Promise<void> {
  const before = looks(log);
  await waitFor(() => looks(log) >= before + 2);
}

/** Both clocks go together. */
function shareClock(): void {
  const begun = performance.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now + performance.now() - begun);
}

it('a follower ends well that is interrupted while it reads', async () => {
  const shown = await following('calls', async () => {
    await nextLook('calls');
    isSilent = true;
    const before = looks('calls');
    await waitFor(() => looks('calls') > before);
  });
  expect(shown).toEqual([]);
});

it('a follower that was stopped for an hour shows what came meanwhile', async () => {
  shareClock();
  const shown = await following('calls', async () => {
    await nextLook('calls');
    const meanwhile = inSeconds(1);
    now += 3_600_000;
    calls = [{ id: 'meanwhile', ended_at: meanwhile }];
    await nextLook('calls');
  });
  expect(shown).toEqual(['meanwhile']);
});

it.each([-3_600, 3_600])(
  'a clock that is %d s away from that of Glovebox hides nothing and shows nothing older',
  async (seconds) => {
    now += seconds * 1_000;
    calls = [
      { id: 'of the time asked for', ended_at: inSeconds(-9 * 60) },
      { id: 'older', ended_at: inSeconds(-11 * 60) },
    ];
    const shown = await following('calls', async () => {
      await nextLook('calls');
      calls.push({ id: 'new', ended_at: inSeconds(0) });
      await nextLook('calls');
    });
    expect(shown).toEqual(['of the time asked for', 'new']);
  },
);

it('a run that waited for an hour is shown once when it has ended, and so is one that came late', async () => {
  shareClock();
  const waited: Run = { id: 'waited', created_at: inSeconds(0), status: 'pending' };
  runs = [waited];
  const shown = await following('runs', async () => {
    await nextLook('runs');
    now += 3_600_000;
    await nextLook('runs');
    Object.assign(waited, { status: 'completed', ended_at: inSeconds(0) });
    now += 60_000;
    await nextLook('runs');
    now += 60_000;
    runs.push({ id: 'late', created_at: inSeconds(-230), status: 'failed' });
    await nextLook('runs');
    now += 60_000;
    await nextLook('runs');
  });
  expect(shown).toEqual(['waited', 'late']);
});
