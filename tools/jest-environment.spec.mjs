import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import ClosedEnvironment from './jest-environment.js';

const { patienceMs } = ClosedEnvironment;
afterEach(() => {
  ClosedEnvironment.patienceMs = patienceMs;
});

const environment = () => {
  const projectConfig = { globals: {}, testEnvironmentOptions: {} };
  return new ClosedEnvironment(
    /** @type {any} */ ({ projectConfig, globalConfig: {} }),
    /** @type {any} */ ({}),
  );
};

it('a spec that leaves a timer or a connection open is named with what it left', async () => {
  ClosedEnvironment.patienceMs = 50;
  const server = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const left = environment();
  const timer = setTimeout(() => undefined, 60_000);
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  try {
    await expect(left.teardown()).rejects.toThrow(
      /^The spec left open: (?=.*Timeout).*TCPSocketWrap/,
    );
  } finally {
    clearTimeout(timer);
    socket.destroy();
    server.close();
  }
});

it('a test that failed before is told with it', async () => {
  ClosedEnvironment.patienceMs = 50;
  const left = environment();
  /** @param {string} name @param {unknown[]} errors */
  const done = (name, ...errors) =>
    left.handleTestEvent(/** @type {any} */ ({ name: 'test_done', test: { name, errors } }));
  done('passes');
  done('fails', [new Error('the reason'), new Error('where it was asked for')]);
  const timer = setTimeout(() => undefined, 60_000);
  const told = await left.teardown().catch((error) => error.message);
  clearTimeout(timer);
  expect(told).toMatch(
    /^The spec left open: Timeout\n\nIt had failed before: fails: Error: the reason\n/,
  );
  expect(told).not.toMatch(/passes|asked for/);
});

it('what was open before, and what ends in time, is nobody’s fault', async () => {
  const before = setTimeout(() => undefined, 60_000);
  const calm = environment();
  setTimeout(() => undefined, 200);
  await calm.teardown();
  clearTimeout(before);
});
