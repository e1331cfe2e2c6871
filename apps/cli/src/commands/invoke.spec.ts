import { startDestination } from '@glovebox/testing';
import { glovebox } from '../spec-program';

const inBackground = ['--async', '--callback-url', 'https://example.com'];

it.each([
  [['--timeout-ms', '1000'], '--timeout-ms needs --async.'],
  [['--callback-url', 'https://example.com'], '--callback-url needs --async.'],
  [['--async'], '--async needs --callback-url.'],
  [[...inBackground, '--timeout-ms', '60s'], '--timeout-ms is a whole number'],
  [[...inBackground, '--timeout-ms', '0'], '--timeout-ms is a whole number'],
  [[...inBackground, '--timeout-ms', '1.5'], '--timeout-ms is a whole number'],
])('what would be ignored is refused before anything is sent: %j', async (options, said) => {
  const server = await startDestination();
  const ended = await glovebox(['invoke', 'hello', ...options], {
    env: { ...{ GLOVEBOX_URL: server.url, GLOVEBOX_KEY: 'key' }, GLOVEBOX_PRIVATE_KEY: 'key' },
  });
  await server.close();
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(said);
  expect(server.requests).toEqual([]);
});
