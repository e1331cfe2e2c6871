import type { Problem } from '@glovebox/problems';
import { UsedTickets } from './used-tickets';

function refusal(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (thrown) {
    return (thrown as Problem).code;
  }
}

it('a ticket is used once for as long as it may be valid', () => {
  for (let begun = 0; begun < 20_000; begun += 999) {
    const used = new UsedTickets();
    used.use({ proof: 'of the first moment' }, 0);
    used.use({ proof: 'a' }, begun);
    for (let later = begun; later < begun + 20_000; later += 500) {
      const code = refusal(() => used.use({ proof: 'a' }, later));
      expect([begun, later, code]).toEqual([begun, later, 'conflict']);
    }
  }
});

it('used tickets are forgotten, also after a long silence', () => {
  const used = new UsedTickets();
  for (let now = 0; now < 300_000; now += 100) used.use({ proof: `at ${now}` }, now);
  expect(used.size).toBeLessThanOrEqual(400);
  used.use({ proof: 'much later' }, 10_000_000);
  expect(used.size).toBe(1);
});

it('a ticket that could not be remembered is not used', () => {
  const used = new UsedTickets(10);
  for (let nth = 0; nth < 10; nth += 1) used.use({ proof: `${nth}` }, 0);
  expect(refusal(() => used.use({ proof: 'one more' }, 0))).toBe('no_capacity');
  expect(refusal(() => used.use({ proof: 'one more' }, 40_000))).toBeUndefined();
});
