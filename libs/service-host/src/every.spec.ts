import { setTimeout as delay } from 'node:timers/promises';
import { every } from './every';

const unexpected = { onFault: (error: unknown) => expect(error).toBeUndefined() };

/** Resolves when it was called so many times. */
function rounds(count: number) {
  let done = 0;
  let finish = (): void => undefined;
  const reached = new Promise<void>((resolve) => (finish = resolve));
  return {
    reached,
    count: () => done,
    next() {
      done += 1;
      if (done === count) finish();
    },
  };
}

it('work is repeated, its first round after the interval', async () => {
  const { reached, next } = rounds(3);
  const startedAt = performance.now();
  const work = every(20, async () => next(), unexpected);
  await reached;
  expect(performance.now() - startedAt).toBeGreaterThan(55);
  await work.stop();
});

it('the first round begins at once where that is asked for', async () => {
  const { reached, next } = rounds(1);
  const work = every(60_000, async () => next(), { ...unexpected, atOnce: true });
  await reached;
  await work.stop();
});

it('a round that takes longer than the interval is not overlapped by the next one', async () => {
  let underWay = 0;
  let most = 0;
  const { reached, next } = rounds(5);
  const work = every(
    1,
    async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await delay(10);
      underWay -= 1;
      next();
    },
    unexpected,
  );
  await reached;
  await work.stop();
  expect(most).toBe(1);
});

it('a round that fails is reported, and the next one begins all the same', async () => {
  const faults: unknown[] = [];
  const { reached, next } = rounds(2);
  const work = every(
    1,
    () => {
      next();
      return Promise.reject(new Error('away'));
    },
    { onFault: (error) => faults.push(error) },
  );
  await reached;
  await work.stop();
  expect(faults).toEqual([new Error('away'), new Error('away')]);
});

it('stopping waits for the round under way, tells it to stop, and begins no other', async () => {
  const { reached, next, count } = rounds(1);
  let ended = false;
  const work = every(
    1,
    async (stopped) => {
      next();
      await new Promise((resolve) => stopped.addEventListener('abort', resolve));
      await delay(10);
      ended = true;
    },
    { ...unexpected, atOnce: true },
  );
  await reached;
  await work.stop();
  expect([ended, count()]).toEqual([true, 1]);
});

it('a pause between rounds keeps no process alive', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const work = every(60_000, () => Promise.resolve(), unexpected);
  expect(timers()).toBe(before);
  await work.stop();
});
