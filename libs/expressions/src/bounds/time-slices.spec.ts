import { setImmediate as nextTurn } from 'node:timers/promises';
import { bodyTemplate } from '../expand/expand-stream';
import { valueTemplate } from '../expand/value-template';
import { Budget, Tally } from './limits';
import { atOnce, inSlices, nextSlice, nowOrInSlices, pauses, type Work } from './time-slices';

/** Counts how often the process has looked at its sockets during the work. */
async function looksDuring(work: () => Promise<unknown>): Promise<number> {
  let looks = 0;
  let isDone = false;
  const looking = (async () => {
    for (; !isDone; looks += 1) await nextTurn();
  })();
  await work().finally(() => (isDone = true));
  await looking;
  return looks;
}

function* busy(ms: number): Work<number> {
  const until = performance.now() + ms;
  let steps = 0;
  for (; performance.now() < until; steps += 1) yield;
  return steps;
}

const megabyte = 'é'.repeat(512 * 1024);
const values = new Map<string, unknown>([['v_1', megabyte]]);
const chain = (nth: number): string =>
  `{{ v_1 | upcase | replace: 'É', 'e' | hmac: 'sha256', '${nth}' }}`;

describe('long work', () => {
  it('pauses every few milliseconds and ends with its result', async () => {
    const result = { steps: 0 };
    const looks = await looksDuring(async () => (result.steps = await inSlices(busy(200))));
    expect(looks).toBeGreaterThan(3);
    expect(result.steps).toBeGreaterThan(1_000);
  });

  it('of many callers is done one slice at a time, with a look at the sockets after each', async () => {
    const looks = await looksDuring(() =>
      Promise.all(Array.from({ length: 20 }, () => inSlices(busy(50)))),
    );
    expect(looks).toBeGreaterThan(20);
  });

  it('pauses where it awaits between its steps', async () => {
    const looks = await looksDuring(async () => {
      const pause = pauses();
      for (let step = 0; step < 100; step += 1) {
        atOnce(busy(2));
        await Promise.resolve();
        await pause();
      }
    });
    expect(looks).toBeGreaterThan(10);
  });

  it('takes a turn and gives it back, and short work takes none', async () => {
    const turns = { taken: 0, ended: 0 };
    const takeTurn = (): Promise<() => void> => {
      turns.taken += 1;
      return Promise.resolve(() => void (turns.ended += 1));
    };
    await inSlices(busy(0), takeTurn);
    expect(turns).toEqual({ taken: 0, ended: 0 });
    await inSlices(busy(50), takeTurn);
    expect(turns).toEqual({ taken: 1, ended: 1 });
    function* failing(): Work<never> {
      yield* busy(20);
      throw new Error('broken');
    }
    await expect(inSlices(failing(), takeTurn)).rejects.toThrow('broken');
    expect(turns).toEqual({ taken: 2, ended: 2 });
  });

  it('that turns out to be short is done before the call returns, or throws there', () => {
    expect(nowOrInSlices(busy(0))).toBe(0);
    expect(nowOrInSlices(busy(50))).toBeInstanceOf(Promise);
    function* failing(): Work<never> {
      throw new Error('broken');
    }
    expect(() => nowOrInSlices(failing())).toThrow('broken');
  });

  it('waits behind all earlier waiters', async () => {
    const served: number[] = [];
    const wait = async (nth: number): Promise<void> => {
      await nextSlice();
      served.push(nth);
      await nextSlice();
      served.push(nth);
    };
    await Promise.all([wait(1), wait(2), wait(3)]);
    expect(served).toEqual([1, 2, 3, 1, 2, 3]);
  });
});

describe('costly expressions', () => {
  it('of a body are replaced in slices, with the same result as at once', async () => {
    const body = Buffer.from(JSON.stringify(Array.from({ length: 4 }, (_, nth) => chain(nth))));
    const make = () => atOnce(bodyTemplate(body, 'json', new Tally()));
    const filled: { bytes?: Buffer } = {};
    const looks = await looksDuring(async () => {
      filled.bytes = await make().renderInSlices(values, new Budget());
    });
    expect(looks).toBeGreaterThan(3);
    expect(filled.bytes).toEqual(make().render(values));
  });

  it('of the arguments of a run are replaced in slices', async () => {
    const args = Array.from({ length: 4 }, (_, nth) => ({ [nth]: chain(nth) }));
    const looks = await looksDuring(() => valueTemplate(args).renderInSlices(values));
    expect(looks).toBeGreaterThan(3);
  });

  it('of a large body are found in slices', async () => {
    const expression = `{{v_1${' | upcase'.repeat(32)}}}`;
    const body = Buffer.from(expression.repeat(999));
    const looks = await looksDuring(() => inSlices(bodyTemplate(body, 'text', new Tally())));
    expect(looks).toBeGreaterThan(2);
  });

  it('count against the memory of their request as they are replaced', () => {
    let kept = 0;
    const keep = (bytes: number): void => {
      kept += bytes;
      if (kept > 2 * 1024 * 1024) throw new Error('no room');
    };
    const template = valueTemplate(['{{v_1}}', '{{v_1}}', '{{v_1}}']);
    expect(() => template.render(values, new Budget({ keep }))).toThrow('no room');
    expect(kept).toBe(3 * 1024 * 1024);
  });
});
