import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { freePort, keptPort, listenerPorts } from './ports.mjs';
import { useFolder } from './spec-folder.mjs';

const folder = useFolder();

/** @param {number} port */
async function listenOn(port) {
  const server = net.createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

it('a free port can be listened on, and is not given twice', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  const servers = await Promise.all(ports.map(listenOn));
  for (const server of servers) server.close();
});

it('the port of a variable is taken where it is free, else the default, else any for 0', async () => {
  const port = await freePort();
  const one = { name: 'one', variable: 'ONE_PORT', byDefault: port };
  expect(await listenerPorts({}, [one])).toEqual({ ONE_PORT: port });
  const other = await freePort();
  expect(await listenerPorts({ ONE_PORT: String(other) }, [one])).toEqual({ ONE_PORT: other });
  const any = await listenerPorts({ ONE_PORT: '0' }, [one, { name: 'two', variable: 'TWO_PORT' }]);
  expect(any).toEqual({ ONE_PORT: expect.any(Number), TWO_PORT: expect.any(Number) });
  expect(new Set([port, any.ONE_PORT, any.TWO_PORT]).size).toBe(3);
});

it('one refusal names all ports that others have, who has them, and what helps', async () => {
  const [first, second] = [await freePort(), await freePort()];
  const servers = [await listenOn(first), await listenOn(second)];
  const refusal = listenerPorts({ REDIS_PORT: String(second) }, [
    { name: 'gateway', variable: 'GATEWAY_PORT', byDefault: first },
    { name: 'free', variable: 'FREE_PORT' },
    { name: 'Redis', variable: 'REDIS_PORT' },
  ]);
  const { message } = await refusal.then(
    () => ({ message: 'none' }),
    (/** @type {Error} */ error) => error,
  );
  const lines = message.split('\n');
  expect(lines).toEqual([
    'These ports cannot be had:',
    expect.stringContaining(`  ${first} (gateway) is taken by `),
    expect.stringContaining(`  ${second} (Redis) is taken by `),
    expect.stringMatching(/^Take other ports: npm start -- --port \d+$/),
    'Leave out REDIS_PORT: any free port is taken then.',
  ]);
  if (existsSync('/proc/net/tcp')) expect(lines[1]).toContain(`process ${process.pid} (`);
  const proposed = Number(lines[3]?.split(' ').at(-1));
  for (const port of [proposed, proposed + 1, proposed + 4]) servers.push(await listenOn(port));
  for (const server of servers) server.close();
});

it('one port for two is refused', async () => {
  const both = ['ONE_PORT', 'TWO_PORT'].map((variable) => ({ name: variable, variable }));
  await expect(listenerPorts({ ONE_PORT: '9000', TWO_PORT: '9000' }, both)).rejects.toThrow(
    'ONE_PORT and TWO_PORT are both 9000.',
  );
});

it('a port is kept in its file; while another program has it another one serves, and that is said', async () => {
  const file = join(folder, 'port');
  const port = await keptPort(file, 'demo');
  expect(await keptPort(file, 'demo')).toBe(port);
  const said = jest.spyOn(console, 'log').mockImplementation(() => undefined);
  const server = await listenOn(port);
  const other = await keptPort(file, 'demo');
  const [[line = ''] = []] = said.mock.calls;
  said.mockRestore();
  expect(other).not.toBe(port);
  expect(line).toContain(`Port ${port} of the demo is taken by another program.`);
  expect(line).toContain(`the demo has port ${other}`);
  server.close();
  await once(server, 'close');
  expect(await keptPort(file, 'demo')).toBe(port);
});

it.each(['x', '-1', '65536', '80.5'])('"%s" is refused as a port', async (text) => {
  const listeners = [{ name: 'some', variable: 'SOME_PORT' }];
  await expect(listenerPorts({ SOME_PORT: text }, listeners)).rejects.toThrow(
    `SOME_PORT=${text} is not a port: give a number from 0 (any free) to 65535.`,
  );
});
