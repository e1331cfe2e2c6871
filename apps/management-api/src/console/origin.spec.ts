import { once } from 'node:events';
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';
import { ask, builtAt, builtPage, signIn } from './spec-console';

const page = builtPage();
const api = useTestApi({
  CONSOLE_PORT: '0',
  CONSOLE_FILES: page.folder,
  CONSOLE_URL: 'https://console.example.com',
});
afterAll(() => page.remove());

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";

/** Sends bytes as they are, and returns the answer. */
async function sendRaw(text: string): Promise<string> {
  const socket = connect(api.consolePort, '127.0.0.1');
  socket.write(text);
  let answer = '';
  socket.on('data', (part: Buffer) => (answer += part.toString('latin1')));
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return answer;
}
const rawGet = (target: string, ...more: string[]): Promise<string> =>
  sendRaw(
    [`GET ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...more, '', ''].join(
      '\r\n',
    ),
  );

describe('the page', () => {
  it.each(['/', '/calls', '/tokens/4242.4242', '/index.html', '/sign-in?x=1'])(
    'is served at %s under its policy, and never from a cache unasked',
    async (path) => {
      const answer = await ask(api, path);
      expect([answer.status, answer.text]).toEqual([200, '<!doctype html><title>Console</title>']);
      expect(answer.headers).toMatchObject({
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
      });
    },
  );

  it('has files that are kept for ever, packed for browsers that take them', async () => {
    const path = '/assets/app-1a2b.js';
    const plain = await ask(api, path);
    expect([plain.status, plain.text.length]).toEqual([200, 1_000_003]);
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': policy,
      'content-type': expect.stringContaining('javascript') as string,
    });
    const packed = await ask(api, path, { headers: { 'accept-encoding': 'gzip, br' } });
    expect([packed.text, packed.headers['content-encoding']]).toEqual(['packed', 'br']);
    expect((await ask(api, '/assets/none.js')).status).toBe(404);
  });

  it.each([
    '/../../../etc/passwd',
    '/..%2f..%2f..%2fetc/passwd',
    '/assets/..%5c..%5cetc/passwd',
    '/assets/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/%00/etc/passwd',
    '/assets/../../../../proc/self/environ',
    '/%c0%ae%c0%ae/etc/passwd',
  ])('leads to no file outside its folder by %s', async (target) => {
    const answer = await rawGet(target);
    expect(answer).toMatch(/^HTTP\/1\.1 (?:200|400|404) /);
    expect(answer).not.toContain('root:');
    expect(answer).not.toContain('PATH=');
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])('takes no %s', async (method) => {
    const answer = await ask(api, '/assets/app-1a2b.js', { method });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('survives ranges that make no sense, and files that went after it was listed', async () => {
    for (const range of ['bytes=5-2', 'bytes=-1', 'bytes=9999999-', 'bytes=a-b', 'x']) {
      const answer = await ask(api, '/assets/app-1a2b.js', { headers: { range } });
      expect([range, answer.status]).toEqual([range, 200]);
    }
    const assets = join(page.folder, 'assets');
    rmSync(join(assets, 'app-1a2b.js.br'));
    utimesSync(assets, builtAt, builtAt);
    const lost = ask(api, '/assets/app-1a2b.js', { headers: { 'accept-encoding': 'br' } });
    await expect(lost).rejects.toThrow();
    expect((await ask(api, '/')).status).toBe(200);
  });

  it('is that of the newest build, whose files are found without a restart', async () => {
    const file = join(page.folder, 'assets', 'app-3c4d.js');
    expect((await ask(api, '/assets/app-3c4d.js')).status).toBe(404);
    writeFileSync(file, 'half');
    expect((await ask(api, '/assets/app-3c4d.js')).text).toBe('half');
    writeFileSync(file, 'both halves');
    expect((await ask(api, '/assets/app-3c4d.js')).text).toBe('both halves');
    for (const at of [new Date('2026-02-01'), new Date('2026-03-01')]) {
      utimesSync(join(page.folder, 'assets'), at, at);
      expect((await ask(api, '/assets/app-3c4d.js')).text).toBe('both halves');
    }
  });

  it('holds no file open for a reader who has gone', async () => {
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const before = openFiles();
    for (let nth = 0; nth < 20; nth += 1) {
      const socket = connect(api.consolePort, '127.0.0.1');
      socket.write('GET /assets/app-1a2b.js HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(socket, 'readable');
      socket.destroy();
    }
    await waitFor(() => Promise.resolve(openFiles() <= before + 3));
  });
});

describe('the listener', () => {
  it('answers nothing to a request that names no host', async () => {
    expect(await sendRaw('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
  });

  it.each([
    ...[
      '*',
      '//evil.example',
      'http://evil.example/api/calls',
      '/%',
      '/%00',
      '/%2e%2e/%2e%2e',
      '/__proto__',
    ],
    ...[
      '/api/%',
      '/api/reactors/%E0%A4%A',
      '/api//calls',
      '/api/../api/calls',
      '/api/%2e%2e/calls',
    ],
    ...['/api?x=%', '/api/console/oidc/callback?%', '/api/__proto__', '/api/calls?__proto__=1'],
  ])('answers for itself when it is asked for %s', async (target) => {
    const answer = await rawGet(target, 'Sec-Fetch-Site: cross-site');
    expect([target, /^HTTP\/1\.1 (?:200|400|401|403|404) /.test(answer), answer]).toEqual([
      target,
      true,
      answer,
    ]);
    const isPage = answer.includes('<title>Console</title>');
    expect([target, isPage]).toEqual([target, !target.startsWith('/api')]);
  });

  it('refuses a head that is too large', async () => {
    expect(await rawGet('/', `X-Large: ${'x'.repeat(20_000)}`)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it.each(['evil.example', 'evil.example:8084', '127.0.0.1.evil.example', 'a b', '[::2]'])(
    'answers nothing under the name %j, with or without a key',
    async (host) => {
      const key = await signIn(api);
      for (const path of ['/', '/assets/app-1a2b.js', '/api/calls', '/api/console']) {
        const answer = await ask(api, path, { key, headers: { host } });
        expect([path, [400, 421].includes(answer.status)]).toEqual([path, true]);
        expect(answer.text).not.toContain('Console</title>');
      }
    },
  );

  it.each(['127.0.0.1:8084', 'localhost', 'localhost:1', '[::1]:9', 'console.example.com'])(
    'answers under the name %s',
    async (host) => {
      expect((await ask(api, '/', { headers: { host } })).status).toBe(200);
      expect((await ask(api, '/api/console', { headers: { host } })).status).toBe(200);
    },
  );

  it.each<Record<string, string>>([
    { origin: 'http://127.0.0.1:8080' },
    { origin: 'null' },
    { origin: 'https://localhost.evil.example' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ])('admits no request of another page: %j', async (headers) => {
    const key = await signIn(api);
    const answer = await ask(api, '/api/calls', {
      key,
      headers: { host: 'localhost', ...headers },
    });
    expect([answer.status, answer.body]).toMatchObject([403, { code: 'permission_denied' }]);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('admits its own page', async () => {
    const key = await signIn(api);
    const headers = {
      host: 'localhost:8084',
      origin: 'http://localhost:8084',
      'sec-fetch-site': 'same-origin',
    };
    expect((await ask(api, '/api/calls', { key, headers })).status).toBe(200);
  });

  it('keeps every answer of /api out of caches, and says no more than the application does', async () => {
    const key = await signIn(api);
    for (const path of ['/api/calls', '/api/console', '/api/none', '/api', '/api?x=1']) {
      const { headers } = await ask(api, path, { key });
      expect([path, headers]).toMatchObject([
        path,
        {
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        },
      ]);
    }
    expect((await ask(api, '/apix', { key })).headers['content-type']).toContain('html');
  });

  it('refuses a code of more than 4 KiB, and reads none that is not JSON', async () => {
    const path = '/api/console/sessions';
    const large = await ask(api, path, { method: 'POST', body: { code: 'x'.repeat(5_000) } });
    expect(large.status).toBe(413);
    const form = await ask(api, path, {
      method: 'POST',
      body: {},
      headers: { 'content-type': 'text/plain' },
    });
    expect(form.status).toBe(415);
  });
});
