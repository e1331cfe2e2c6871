import { Decision } from './decision';
import { DefinitionSnapshot } from './snapshot';

interface Found {
  readonly proxy: { readonly url: string };
  readonly application: string;
}

/** A decision whose definitions say what `say` was last called with, as long as they are fresh. */
function decide(first: Found, hasExpired: () => boolean = () => false) {
  const snapshot = new DefinitionSnapshot();
  const looks: Found[] = [];
  let found: Found | Error = first;
  let isFresh = true;
  const follower = {
    fresh: () => (isFresh ? snapshot : undefined),
    current: () => Promise.resolve(snapshot),
  };
  const find = (): Found => {
    if (hasExpired()) throw new Error('expired');
    if (found instanceof Error) throw found;
    looks.push(found);
    return found;
  };
  const decision = new Decision<Found>(follower, snapshot, { find, parts: ['proxy'] });
  return {
    decision,
    looks,
    say(next: Found | Error): void {
      found = next;
      snapshot.delete('proxy', 'any');
    },
    endLease: () => (isFresh = false),
  };
}

const first: Found = { proxy: { url: 'https://a' }, application: 'one' };
const other: Found = { proxy: { url: 'https://b' }, application: 'one' };
const changed = expect.objectContaining({ code: 'changed_meanwhile' }) as Error;

afterEach(() => jest.restoreAllMocks());

it('a decision is confirmed without a look-up as long as no definition changes', async () => {
  const { decision, looks } = decide(first);
  expect(decision.isConfirmed()).toBe(true);
  await decision.confirm();
  expect(looks).toEqual([first]);
});

it('a decision is confirmed when the definitions say the same in other objects', async () => {
  const { decision, say } = decide(first);
  say({ proxy: { url: 'https://a' }, application: 'one' });
  expect(decision.isConfirmed()).toBe(true);
  await decision.confirm();
});

it('a decision that would be another one now is changed_meanwhile', async () => {
  const { decision, say } = decide(first);
  say(other);
  expect(() => decision.isConfirmed()).toThrow(changed);
  await expect(decision.confirm()).rejects.toEqual(changed);
  expect(decision.decided).toBe(first);
});

it('a decision outlives a change of what is looked up at each use', async () => {
  const { decision, say } = decide(first);
  say({ ...first, application: 'two' });
  expect(decision.isConfirmed()).toBe(true);
  expect((await decision.latest()).application).toBe('two');
});

it('a decision that would not be made any more is refused as a new call is', async () => {
  const { decision, say } = decide(first);
  say(new Error('gone'));
  expect(() => decision.isConfirmed()).toThrow('gone');
  await expect(decision.confirm()).rejects.toThrow('gone');
  await expect(decision.latest()).rejects.toThrow('gone');
});

it('a renewed decision holds what is said now', async () => {
  const { decision, say } = decide(first);
  say(other);
  expect(await decision.renew()).toBe(other);
  expect(decision.decided).toBe(other);
  expect(decision.isConfirmed()).toBe(true);
  say(first);
  await expect(decision.confirm()).rejects.toEqual(changed);
});

it('a decision is renewed without a pause under a lease, and not at all without one', async () => {
  const { decision, say, endLease } = decide(first);
  say(other);
  expect(decision.renewNow()).toBe(other);
  expect(decision.decided).toBe(other);
  say(new Error('gone'));
  expect(() => decision.renewNow()).toThrow('gone');
  say(first);
  endLease();
  expect(decision.renewNow()).toBeUndefined();
  expect(decision.decided).toBe(other);
  expect(await decision.renew()).toBe(first);
});

it('what ends by itself, without a change of a definition, is noticed within a second', async () => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const { decision } = decide(first, () => now > 0);
  now = 999;
  expect(decision.isConfirmed()).toBe(true);
  now = 1_000;
  expect(() => decision.isConfirmed()).toThrow('expired');
  await expect(decision.confirm()).rejects.toThrow('expired');
  await expect(decision.latest()).rejects.toThrow('expired');
  await expect(decision.renew()).rejects.toThrow('expired');
});

it('a decision without a lease is confirmed by asking the stores', async () => {
  const { decision, endLease } = decide(first);
  endLease();
  expect(decision.isConfirmed()).toBe(false);
  await decision.confirm();
});
