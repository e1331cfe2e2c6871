import { waitFor } from '@glovebox/testing';
import { LargeCalls } from './large-calls';

const large = Buffer.alloc(1024 * 1024);
const small = Buffer.from('["small"]');
const many = Buffer.from(JSON.stringify([Array(201).fill(1)]));

/** Calls that last until they are ended, and the order in which they began. */
function stage(): {
  begun: string[];
  begin: (tenantId: string, params: Buffer) => Promise<void>;
  end: () => void;
} {
  const calls = new LargeCalls();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    begin: (tenantId, params) =>
      calls.inTurn(tenantId, params, () => {
        begun.push(tenantId);
        return new Promise((resolve) => ends.push(resolve));
      }),
    end: () => ends.shift()?.(),
  };
}

it('small calls begin at once, also while a large one is under way', async () => {
  const { begun, begin } = stage();
  void begin('large', large);
  await waitFor(() => begun.length === 1);
  for (let n = 0; n < 5; n += 1) void begin('small', small);
  expect(begun).toEqual(['large', ...Array<string>(5).fill('small')]);
});

it.each([
  ['of many bytes', large],
  ['of many members', many],
])('calls %s begin one after the other, tenants in turn', async (_, params) => {
  const { begun, begin, end } = stage();
  const all = ['a', 'a', 'a', 'b', 'b', 'c'].map((tenantId) => begin(tenantId, params));
  for (let n = 1; n <= all.length; n += 1) {
    await waitFor(() => begun.length === n);
    end();
  }
  await Promise.all(all);
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
});

it('a large call that hangs keeps the next one waiting for a tenth of a second', async () => {
  const { begun, begin } = stage();
  void begin('hangs', large);
  const startedAt = performance.now();
  void begin('next', large);
  await waitFor(() => begun.includes('next'));
  expect(performance.now() - startedAt).toBeGreaterThan(90);
});

it('a large call that fails passes on its turn, and its error', async () => {
  const calls = new LargeCalls();
  const fail = (): Promise<never> => Promise.reject(new Error('no'));
  await expect(calls.inTurn('a', large, fail)).rejects.toThrow('no');
  expect(await calls.inTurn('a', large, () => Promise.resolve(1))).toBe(1);
});
