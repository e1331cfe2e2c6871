import { Writable } from 'node:stream';
import { doctor } from './commands/doctor';
import { connectionOf, isInTheClear } from './connection';
import { contextOf } from './context';
import { AuthorsFolder, interruptionsOf } from './run/spec-lender';

it.each([
  'http://127.evil.com',
  'http://127.0.0.1.evil.com:8080',
  'http://localhost.evil.com',
  'http://localhostess/',
  'http://[::2]/',
  'http://glovebox.example',
])('a key would travel through a network in the clear to %s', (url) => {
  expect(isInTheClear(url)).toBe(true);
});

it.each([
  'http://localhost:3000/hooks',
  'http://LOCALHOST',
  'http://127.0.0.1:8080',
  'http://127.1.2.3',
  'http://[::1]:8080',
  'https://127.evil.com',
])('a key would not travel through a network in the clear to %s', (url) => {
  expect(isInTheClear(url)).toBe(false);
});

describe('a URL without encryption beyond this machine', () => {
  const url = 'http://glovebox.example';
  const keys = { GLOVEBOX_KEY: 'key_that_manages', GLOVEBOX_PRIVATE_KEY: 'key_that_uses' };
  let folder: AuthorsFolder;
  beforeEach(() => (folder = new AuthorsFolder()));
  afterEach(() => folder.remove());

  it('gets no key of the environment, unless that allows it', () => {
    const env = { ...folder.env, ...keys };
    for (const [key, variable] of [
      ['managementKey', 'GLOVEBOX_KEY'],
      ['privateKey', 'GLOVEBOX_PRIVATE_KEY'],
    ] as const) {
      expect(() => connectionOf({ url }, env)[key]()).toThrow(
        expect.objectContaining({
          exit: 'usage',
          message: `${url} is not encrypted: ${variable} is not sent there.`,
        }),
      );
      for (const allowed of ['', '1', 'yes']) {
        const connection = connectionOf({ url }, { ...env, GLOVEBOX_ALLOW_HTTP: allowed });
        expect(() => connection[key]()).toThrow('is not encrypted');
      }
      const connection = connectionOf({ url }, { ...env, GLOVEBOX_ALLOW_HTTP: 'true' });
      expect(connection[key]()).toBe(keys[variable]);
      expect(connectionOf({ url: 'https://glovebox.example' }, env)[key]()).toBe(keys[variable]);
      expect(connectionOf({ url: 'http://127.0.0.1:8080' }, env)[key]()).toBe(keys[variable]);
    }
  });

  it('gets the keys that were stored for it, which `login` has asked about', () => {
    folder.store({ url, managementKey: 'key_that_manages', privateKey: 'key_that_uses' });
    const connection = connectionOf({}, folder.env);
    expect([connection.managementKey(), connection.privateKey()]).toEqual(Object.values(keys));
  });

  it('ends the checks of the doctor before a key is sent', async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(),
    }) as unknown as typeof process.stdout;
    const at = { cwd: () => folder.path, stdout, stderr: process.stderr };
    const { interruptions } = interruptionsOf();
    const env = { ...folder.env, ...keys };
    const context = contextOf({ color: false, json: true, url }, env, at, interruptions);
    await expect(doctor(context)).rejects.toMatchObject({
      exit: 'failed',
      details: { checks: ['URL'] },
    });
  });
});
