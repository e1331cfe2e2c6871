import { covers, hostPatternsOf, parseDestination } from './destinations';

const allows = (pattern: string, url: string): boolean => {
  const parsed = parseDestination(pattern);
  if (!parsed) throw new Error(`${pattern} is no pattern`);
  const { origin, path } = sent(url);
  return covers(parsed, { origin, path });
};

/** Origin as a URL has it, and the path byte for byte. */
function sent(url: string): { origin: string; path: string } {
  const path = /^[a-z]+:\/\/[^/?#\\]*([^?#]*)/i.exec(url)?.[1] ?? '';
  return { origin: new URL(url).origin, path: path === '' ? '/' : path };
}

describe('What a pattern of destinations covers', () => {
  it.each([
    ['api.example.com', 'https://api.example.com/'],
    ['api.example.com', 'https://api.example.com:443/any/path?query=1'],
    ['API.Example.COM', 'https://api.example.com/'],
    ['api.example.com', 'https://API.EXAMPLE.com/'],
    ['api.example.com.', 'https://api.example.com/'],
    ['api.example.com..', 'https://api.example.com/'],
    ['api.example.com', 'https://api.example.com./'],
    ['api.example.com', 'https://%61pi.example.com/'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
    ['xn--bcher-kva.example', 'https://BÜCHER.example/'],
    ['api。example。com', 'https://api.example.com/'],
    ['https://api.example.com', 'https://api.example.com/'],
    ['api.example.com:443', 'https://api.example.com/'],
    ['api.example.com:8443', 'https://api.example.com:8443/'],
    ['http://api.example.com', 'http://api.example.com/'],
    ['http://api.example.com:80', 'http://api.example.com/'],
    ['*.example.com', 'https://api.example.com/'],
    ['*.example.com', 'https://a.b.example.com/'],
    ['api.example.com/v1', 'https://api.example.com/v1'],
    ['api.example.com/v1', 'https://api.example.com/v1/charges'],
    ['api.example.com/v1/', 'https://api.example.com/v1'],
    ['api.example.com/v1', 'https://api.example.com/%76%31/charges'],
    ['api.example.com/a%20b', 'https://api.example.com/a%20b/c'],
    ['api.example.com/v1', 'https://api.example.com/v1?to=/v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/50%25'],
    ['192.0.2.1', 'https://192.0.2.1/'],
    ['192.0.2.1', 'https://0xc0.0.2.1/'],
    ['0xc0000201', 'https://192.0.2.1/'],
    ['[2001:db8::1]', 'https://[2001:0DB8:0:0::1]/'],
    ['[2001:DB8:0::1]:8443', 'https://[2001:db8::1]:8443/'],
  ])('%s covers %s', (pattern, url) => {
    expect(allows(pattern, url)).toBe(true);
  });

  it.each([
    ['api.example.com', 'https://api.example.com.evil.org/'],
    ['api.example.com', 'https://evil-api.example.com/'],
    ['api.example.com', 'https://xapi.example.com/'],
    ['api.example.com', 'https://evil.org/api.example.com'],
    ['api.example.com', 'https://evil.org/?api.example.com'],
    ['api.example.com', 'https://api.example.com@evil.org/'],
    ['api.example.com', 'https://api.example.com:pass@evil.org/'],
    ['api.example.com', 'https://evil.org#api.example.com'],
    ['api.example.com', 'https://evil.org\\api.example.com'],
    ['api.example.com', 'https://apiXexample.com/'],
    ['api.example.com', 'https://example.com/'],
    ['api.example.com', 'https://a.api.example.com/'],
    ['api.example.com', 'https://api.examp1e.com/'],
    ['api.example.com', 'https://аpi.example.com/'],
    ['api.example.com', 'https://api.example.co/'],
    ['api.example.com', 'https://api.example.com:8443/'],
    ['api.example.com', 'http://api.example.com/'],
    ['api.example.com', 'http://api.example.com:443/'],
    ['api.example.com', 'wss://api.example.com/'],
    ['http://api.example.com', 'https://api.example.com/'],
    ['api.example.com:8443', 'https://api.example.com/'],
    ['api.example.com:8443', 'https://api.example.com:8444/'],
    ['*.example.com', 'https://example.com/'],
    ['*.example.com', 'https://evilexample.com/'],
    ['*.example.com', 'https://api.example.com.evil.org/'],
    ['*.example.com', 'https://api.example.com:8443/'],
    ['192.0.2.1', 'https://192.0.2.10/'],
    ['192.0.2.1', 'https://192.0.2.1.evil.org/'],
    ['[2001:db8::1]', 'https://[2001:db8::10]/'],
    ['api.example.com/v1', 'https://api.example.com/'],
    ['api.example.com/v1', 'https://api.example.com/v10'],
    ['api.example.com/v1', 'https://api.example.com/V1/charges'],
    ['api.example.com/v1', 'https://api.example.com/v2/v1'],
    ['api.example.com/v1', 'https://api.example.com/?/v1'],
    ['api.example.com/v1', 'https://api.example.com/v1/../v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/%2e%2e/v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/.%2E/v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/%252e%252e/v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/%25252e%25252e/v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/..;/v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/./x'],
    ['api.example.com/v1', 'https://api.example.com/v1%2fcharges'],
    ['api.example.com/v1', 'https://api.example.com/v1/..%2fv2'],
    ['api.example.com/v1', 'https://api.example.com/v1/..%5cv2'],
    ['api.example.com/v1', 'https://api.example.com/v1/..%255cv2'],
    ['api.example.com/v1', 'https://api.example.com/v1\\..\\v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/%c0%ae%c0%ae/v2'],
    ['api.example.com/v1', 'https://api.example.com//v1'],
    ['api.example.com/v1', 'https://api.example.com/v1//evil.org'],
    ['api.example.com/v1', 'https://api.example.com/v1/%00/../v2'],
    ['api.example.com/v1', 'https://api.example.com/v1/%'],
    ['api.example.com/v1', 'https://api.example.com/v1;x/charges'],
    ['api.example.com/v1', 'https://other.example.com/v1/charges'],
  ])('%s does not cover %s', (pattern, url) => {
    expect(allows(pattern, url)).toBe(false);
  });

  it.each([
    '',
    '*',
    '*.',
    '.',
    '..',
    '*.*.example.com',
    'api.*.com',
    'a*.example.com',
    '*.192.0.2.1',
    '*.[::1]',
    '[::1',
    'user@api.example.com',
    'user:pass@api.example.com',
    'api.example.com:0',
    'api.example.com:65536',
    'api.example.com:x',
    'ftp://api.example.com',
    '//api.example.com',
    'api.example.com?x=1',
    'api.example.com#x',
    'api.example.com\\x',
    'api.example.com/a/../b',
    'api.example.com/a/%2e%2e/b',
    'api.example.com/a%2fb',
    'api.example.com/a//b',
    'api.example.com/%zz',
    'api.example.com/\ud800',
    'api%2eexample.com',
    'api example.com',
    'a..example.com',
    `${'a'.repeat(64)}.example.com`,
    `api.example.com/${'a'.repeat(500)}`,
    `api.example.com/${'é'.repeat(200)}`,
  ])('refuses %s as a pattern', (text) => {
    expect(parseDestination(text)).toBeUndefined();
  });

  it.each([
    ['https://API.example.com:443/V1/', 'api.example.com/V1'],
    ['HTTP://Api.Example.com:80', 'http://api.example.com'],
    ['http://*.example.com:0081/a%62', 'http://*.example.com:81/ab'],
    ['api.example.com/v1/items:batch/%3f', 'api.example.com/v1/items:batch/%3F'],
    ['api.example.com/50%25', 'api.example.com/50%25'],
    ['Bücher.example..', 'xn--bcher-kva.example'],
    ['2130706433', '127.0.0.1'],
    ['[::FFFF:0:1]', '[::ffff:0:1]'],
  ])('writes %s as %s', (text, normal) => {
    expect(parseDestination(text)?.text).toBe(normal);
    expect(parseDestination(normal)?.text).toBe(normal);
  });

  it('bounds what a long name and a segment of many encodings cost', () => {
    const host = `${'a.'.repeat(100)}example`;
    const patterns = hostPatternsOf(`https://${host}`);
    expect([patterns[0], patterns.at(-1), patterns.length]).toEqual([host, '*.example', 21]);
    const often = `https://api.example.com/v1/%${'25'.repeat(10_000)}2e`;
    expect(allows('api.example.com/v1', often)).toBe(false);
    expect(allows('api.example.com/v1', 'https://api.example.com/v1/100%252525')).toBe(true);
  });

  it('lists every pattern without a path that covers an origin', () => {
    expect(hostPatternsOf('http://a.b.example:81')).toEqual([
      'http://a.b.example:81',
      'http://*.b.example:81',
      'http://*.example:81',
    ]);
    expect(hostPatternsOf('https://192.0.2.1')).toEqual(['192.0.2.1']);
  });
});

it('a pattern that is taken can be read again in its one spelling', () => {
  for (const path of ['é'.repeat(70), 'a%20b', '漢'.repeat(50), 'a'.repeat(400)]) {
    const text = parseDestination(`bücher.example/${path}`)?.text ?? 'not taken';
    expect(parseDestination(text)?.text).toBe(text);
  }
});
