import { ListedOrigins } from './listed-origins';

interface Lister {
  readonly allowedOrigins: readonly string[];
  expired?: boolean;
}

const listed = (): ListedOrigins<Lister> => new ListedOrigins(({ expired }) => expired === true);
const a = 'https://a.example';
const b = 'https://b.example';

describe('the origins that definitions list', () => {
  it('are found as long as one of them is left', () => {
    const origins = listed();
    const listers: Lister[] = [1, 2, 3].map(() => ({ allowedOrigins: [a, b] }));
    listers.forEach((lister) => origins.add(lister));
    for (const lister of listers) {
      expect([origins.has(a), origins.has(b)]).toEqual([true, true]);
      origins.remove(lister);
    }
    expect([origins.has(a), origins.has(b)]).toEqual([false, false]);
  });

  it('do not count once their lister has expired, alone or among others', () => {
    const origins = listed();
    const [one, two]: [Lister, Lister] = [{ allowedOrigins: [a] }, { allowedOrigins: [a, b] }];
    origins.add(one);
    origins.add(two);
    one.expired = true;
    expect([origins.has(a), origins.has(b)]).toEqual([true, true]);
    two.expired = true;
    expect([origins.has(a), origins.has(b)]).toEqual([false, false]);
    origins.remove(one);
    const changed: Lister = { allowedOrigins: [a] };
    origins.add(changed);
    expect(origins.has(a)).toBe(true);
  });

  it('are looked up without a walk over the 20,000 definitions that list them', () => {
    let asked = 0;
    const counted = new ListedOrigins<Lister>((lister) => {
      asked += 1;
      return lister.expired === true;
    });
    for (let nth = 0; nth < 20_000; nth += 1) {
      const own = Array.from({ length: 19 }, (_, at) => `https://${nth}-${at}.example`);
      const lister = { allowedOrigins: [a, ...own], expired: nth < 19_000 };
      counted.add(lister);
    }
    for (let nth = 0; nth < 1_000; nth += 1) expect(counted.has(a)).toBe(true);
    // Each that has expired is met once.
    expect(asked).toBe(19_000 + 1_000);
  });
});
