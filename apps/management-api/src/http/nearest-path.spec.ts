import { noSuchPath } from './nearest-path';

const templates = [
  '/tokens',
  '/tokens/:id',
  '/tokens/search',
  '/reactors/:id',
  '/reactors/:id/runs',
  '/reactor-formulas',
  '/proxies',
  '/logs',
  '/docs',
];
const told = (path: string): string => noSuchPath(path, templates);

describe('a path that nobody serves', () => {
  it.each([
    ['//tokens', '/tokens'],
    ['/token', '/tokens'],
    ['/v1/tokens', '/tokens'],
    ['/api/v2/tokens', '/tokens'],
    ['/V1/Tokens/', '/tokens'],
    ['/tokens//', '/tokens'],
    ['/tokesn', '/tokens'],
    ['/lgos', '/logs'],
    ['/token/4242424242424242', '/tokens/{id}'],
    ['/reactor_formulas', '/reactor-formulas'],
    ['/reactor/x/run', '/reactors/{id}/runs'],
    ['/reactors/x/reac', '/reactors/{id}/react'],
    ['/v1/proxy', '/proxy'],
    ['//proxy/orders/7', '/proxy'],
    ['/prox/orders', '/proxy'],
    ['/health/Life', '/health/live'],
  ])('is answered with the nearest: %s → %s', (path, nearest) => {
    expect(told(path)).toBe(`There is no such path. Did you mean ${nearest}?`);
  });

  it.each([
    ['/Tokens', '/tokens'],
    ['/TOKENS/4242424242424242', '/tokens/{id}'],
    ['/Reactors/x/react', '/reactors/{id}/react'],
    ['/Reactors/x/React/', '/reactors/{id}/react'],
    ['/Proxy', '/proxy'],
    ['/PROXY/orders/7', '/proxy'],
    ['/Tokens/', '/tokens'],
  ])('that differs in letter case is told so: %s', (path, right) => {
    expect(told(path)).toBe(`There is no such path. Letter case counts: ${right}`);
  });

  it.each([
    '/',
    '',
    '/v1',
    '//',
    '/toast',
    '/dogs/x',
    '/tokens/a/b',
    '/proxyfoo',
    '/4242424242424242',
  ])('is answered with the list where none is near: "%s"', (path) => {
    expect(told(path)).toBe('There is no such path. GET /docs lists all.');
  });

  it.each(['/proxy', '/proxy/orders', '/reactors/x/react', '/health/live/'])(
    'is the gateway’s to serve: %s',
    (path) => {
      expect(told(path)).toBe('There is no such path here: the gateway serves it.');
    },
  );

  it('is answered quickly whatever its length', () => {
    const many = Array.from(
      { length: 60 },
      (_, at) => `/${'a'.repeat(20)}${at}/:id/${'b'.repeat(20)}`,
    );
    const paths = [
      '/'.repeat(32 * 1024),
      '/a'.repeat(16 * 1024),
      `/${'v1/'.repeat(60)}`,
      `/${'a'.repeat(20)}1/x/${'c'.repeat(20)}`,
    ];
    const begun = process.cpuUsage();
    for (let n = 0; n < 100; n += 1) for (const path of paths) noSuchPath(path, many);
    // Microseconds of processor time: a busy machine counts for nothing.
    expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
  });
});
