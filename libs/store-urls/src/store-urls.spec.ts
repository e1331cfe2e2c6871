import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseStoreUrl, withLogin, withoutLogin } from './store-url';

let folder: string;
let ca: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'glovebox-urls-'));
  ca = join(folder, 'ca.pem');
  writeFileSync(ca, 'authorities');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['postgres://u:p@db:5432/glovebox', undefined],
  ['postgres://u:p@db:5432/glovebox?sslmode=disable', undefined],
  ['redis://:p@cache:6379', undefined],
  ['postgres://u:p@db/glovebox?sslmode=verify-full', { host: 'db', servername: 'db' }],
  ['postgres://u:p@[::1]:5432/glovebox?sslmode=verify-full', { host: '::1' }],
  ['rediss://u:p@10.0.0.1:6380', { host: '10.0.0.1' }],
])('%s is encrypted where it says so, and to the host that it names', (text, tls) => {
  expect(parseStoreUrl(text).tls).toEqual(tls);
});

it('the driver gets an address that says nothing of TLS, and the authorities of the file', () => {
  expect(parseStoreUrl(`postgres://u:p@db/g?sslmode=verify-full&sslrootcert=${ca}&x=1`)).toEqual({
    url: 'postgres://u:p@db/g?x=1',
    tls: { host: 'db', servername: 'db', ca: 'authorities' },
  });
  expect(parseStoreUrl(`rediss://cache:6380/?sslrootcert=${ca}`)).toEqual({
    url: 'redis://cache:6380/',
    tls: { host: 'cache', servername: 'cache', ca: 'authorities' },
  });
});

it.each(['allow', 'prefer', 'require', 'verify-ca', 'no-verify'])(
  'sslmode=%s is refused, because it encrypts without knowing to whom',
  (mode) => {
    expect(() => parseStoreUrl(`postgres://u:p@db/g?sslmode=${mode}`)).toThrow('verify-full');
  },
);

it('authorities without TLS, and a file that cannot be read, are refused without the address', () => {
  expect(() => parseStoreUrl(`redis://:p@cache?sslrootcert=${ca}`)).toThrow(/^has sslrootcert,/);
  expect(() => parseStoreUrl('rediss://:p@cache?sslrootcert=/nowhere')).toThrow(
    /^names an sslrootcert that cannot be read$/,
  );
});

it('a user and a password of any characters reach the driver as they are', () => {
  const odd = 'p@ss:/?#%20 %';
  const { username, password } = new URL(
    withLogin('redis://cache:6379', { user: odd, password: odd }),
  );
  expect([username, password].map(decodeURIComponent)).toEqual([odd, odd]);
});

it('an address is shown without its login', () => {
  expect(withoutLogin('postgres://u:p@db:5432/glovebox')).toBe('db:5432/glovebox');
  expect(withoutLogin('u:p@db')).toBe('an address that cannot be shown');
});
