import { Problem } from '@glovebox/problems';
import { Shares, type Release } from './shares';

const codeOf = (thrown: unknown): string => (thrown instanceof Problem ? thrown.code : 'other');

/** Takes all places that an owner gets at once. */
function takeAll(shares: Shares, owner: string): Release[] {
  const taken: Release[] = [];
  for (;;) {
    try {
      taken.push(shares.takeNow(owner));
    } catch {
      return taken;
    }
  }
}

describe('shares', () => {
  it('give one owner half of the places, the next one half of the rest, and leave one to a newcomer', () => {
    const shares = new Shares({ places: 64 });
    const taken = ['a', 'b', 'c', 'd'].map((owner) => takeAll(shares, owner).length);
    expect(taken).toEqual([32, 16, 8, 4]);
    expect(shares.state).toMatchObject({ held: 60, waiting: 0 });
  });

  it('tell whether an owner would get places, without counting a refusal', () => {
    const shares = new Shares({ places: 8 });
    shares.takeNow('a', 3);
    expect([1, 2].map((places) => shares.hasRoom('a', places))).toEqual([true, false]);
    expect(shares.state).toMatchObject({ held: 3, refusals: { own: 0, scarce: 0 } });
  });

  it('give one owner no more than its maximum, and the next one as many', () => {
    const shares = new Shares({ places: 64, ownerMax: 5 });
    expect(['a', 'b'].map((owner) => takeAll(shares, owner).length)).toEqual([5, 5]);
  });

  it('give a newcomer the last place', () => {
    const shares = new Shares({ places: 2 });
    takeAll(shares, 'a');
    shares.takeNow('b');
    expect(shares.state.held).toBe(2);
  });

  it('refuse an owner that holds its share with share_exhausted, and a newcomer to nothing with service_unavailable', () => {
    const shares = new Shares({ places: 2 });
    takeAll(shares, 'a');
    takeAll(shares, 'b');
    const refusals = ['a', 'c'].map((owner) => {
      try {
        return shares.takeNow(owner);
      } catch (error) {
        return error as Problem;
      }
    });
    expect(refusals.map(codeOf)).toEqual(['share_exhausted', 'service_unavailable']);
    expect(refusals).toMatchObject([{ retryAfterSeconds: 1 }, { retryAfterSeconds: 1 }]);
    expect(shares.state.refusals).toEqual({ own: 3, scarce: 1 });
  });

  it('take back a place once, however often it is given back', () => {
    const shares = new Shares({ places: 4 });
    const [release] = takeAll(shares, 'a');
    release?.();
    release?.();
    expect(shares.state.held).toBe(1);
  });

  it('count places that weigh more than one', () => {
    const shares = new Shares({ places: 100 });
    shares.takeNow('a', 60);
    expect(() => shares.takeNow('a', 1)).toThrow(Problem);
    expect(() => shares.takeNow('b', 41)).toThrow(Problem);
    shares.takeNow('b', 40);
  });

  it('take back a part of the places that an owner has entered with', () => {
    const shares = new Shares({ places: 100 });
    shares.enter('a', 60);
    expect(() => shares.enter('b', 41)).toThrow(Problem);
    expect(shares.state.held).toBe(60);
    shares.leave('a', 20);
    shares.enter('b', 41);
    shares.leave('a', 40);
    expect([shares.heldBy('a'), shares.heldBy('b'), shares.state.held]).toEqual([0, 41, 41]);
  });

  it('send freed places round the waiting owners, not along the longest queue', async () => {
    const shares = new Shares({ places: 1, waitMs: 10_000, waitingMax: 100 });
    const first = await shares.take('a');
    const served: string[] = [];
    const work = (owner: string): Promise<void> =>
      shares.hold(owner, () => {
        served.push(owner);
        return Promise.resolve();
      });
    const waiting = [...Array<string>(50).fill('a'), 'b', 'c', 'b'].map(work);
    first();
    await Promise.all(waiting);
    expect(served.slice(0, 5)).toEqual(['a', 'b', 'c', 'a', 'b']);
    expect(shares.state).toMatchObject({ held: 0, waiting: 0 });
  });

  it('send a freed place on at the same cost, however many owners wait', async () => {
    const shares = new Shares({ places: 1, waitMs: 60_000, waitingMax: 1 });
    const first = await shares.take('first');
    const owners = Array.from({ length: 10_000 }, (_, nth) => `owner ${nth}`);
    const waiting = owners.map((owner) => shares.hold(owner, () => Promise.resolve()));
    const before = process.cpuUsage();
    first();
    await Promise.all(waiting);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / owners.length).toBeLessThan(200);
  });

  it('refuse only the owner whose queue is full', async () => {
    const shares = new Shares({ places: 1, waitMs: 10_000, waitingMax: 2 });
    const first = await shares.take('a');
    const waiting = [shares.take('a'), shares.take('a')];
    expect(codeOf(await shares.take('a').catch((error: unknown) => error))).toBe('share_exhausted');
    const other = shares.take('b');
    first();
    (await waiting[0])?.();
    (await other)();
    (await waiting[1])?.();
    expect(shares.state).toMatchObject({ held: 0, waiting: 0 });
  });

  it('end a wait after its time', async () => {
    const shares = new Shares({ places: 1, waitMs: 20, waitingMax: 2 });
    await shares.take('a');
    const refused = await shares.take('b').catch((error: unknown) => error);
    expect(codeOf(refused)).toBe('service_unavailable');
    expect(shares.state.waiting).toBe(0);
  });

  it('let a waiter leave the queue when its signal aborts', async () => {
    const shares = new Shares({ places: 1, waitMs: 10_000, waitingMax: 2 });
    const first = await shares.take('a');
    const leaving = new AbortController();
    const left = shares.take('b', { signal: leaving.signal });
    const stays = shares.take('b');
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    first();
    (await stays)();
    expect(shares.state).toMatchObject({ held: 0, waiting: 0 });
  });

  it('give the place back when the work fails', async () => {
    const shares = new Shares({ places: 1 });
    const failing = shares.hold('a', () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(shares.state.held).toBe(0);
  });

  it('remember no owner that holds nothing and waits for nothing', () => {
    const shares = new Shares({ places: 10 });
    for (let nth = 0; nth < 10_000; nth += 1) shares.takeNow(`owner ${nth}`)();
    expect(Object.values(shares.state)).toEqual([10, 0, 0, { own: 0, scarce: 0 }]);
    expect(shares.heldBy('owner 1')).toBe(0);
  });
});
