import { destinationOf } from './destination-url';

describe('the destination of a call', () => {
  it.each<[string, string, string, string]>([
    ['https://a.example/v1', '', '', '/v1'],
    ['https://a.example/v1/', '', '', '/v1/'],
    ['https://a.example', '', '', '/'],
    ['https://a.example', '/x', '', '/x'],
    ['https://a.example/v1//', '/x/y', 'q=1', '/v1/x/y?q=1'],
    ['https://a.example/v1?own=1', '/x', 'q=%20', '/v1/x?own=1&q=%20'],
    ['https://a.example/v1?own=1#part', '', '', '/v1?own=1'],
    ['https://a.example/%7Ea/./b', '', 'a=b&a=b&', '/%7Ea/./b?a=b&a=b&'],
    ['https://a.example', '/', '', '/'],
    ['https://a.example/v1', '//x', '', '/v1//x'],
    ['https://a.example', '//b.example/x', '', '//b.example/x'],
    ['https://a.example', '/%zz/%E9/%ff%', '', '/%zz/%E9/%ff%'],
    [
      'https://a.example',
      '/a;b=../%252e%252e/...',
      'to=/../x\\',
      '/a;b=../%252e%252e/...?to=/../x\\',
    ],
  ])('for %s with %j and %j is %s', (url, suffix, query, path) => {
    expect(destinationOf(url, suffix, query)).toMatchObject({
      origin: 'https://a.example',
      target: path,
    });
  });

  it.each([
    '/..',
    '/a/../b',
    '/./b',
    '/%2e%2e/b',
    '/a/%2E./b',
    '/a%2f..%2fb',
    '/a\\..\\b',
    '/%5c',
    '//..',
    '/..;a=b/c',
    '/..%3b/c',
    '/%c0%ae%C0%AE/c',
    '/..%c0%afc',
    '/%e0%80%ae./c',
  ])('may not climb: %s', (suffix) => {
    expect(() => destinationOf('https://a.example/v1', suffix, '')).toThrow(
      expect.objectContaining({ status: 400 }),
    );
  });

  it('may hold a dot inside a name', () => {
    expect(destinationOf('https://a.example', '/a..b/.well-known/x.json', '').target).toBe(
      '/a..b/.well-known/x.json',
    );
  });
});
