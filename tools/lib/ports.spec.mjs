import { once } from 'node:events';
import net from 'node:net';
import { join } from 'node:path';
import { choosePort, freePort, keptPort } from './ports.mjs';
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
  expect(await choosePort({ SOME_PORT: String(port) }, 'SOME_PORT', 1)).toBe(port);
  expect(await choosePort({}, 'SOME_PORT', port)).toBe(port);
  expect(await choosePort({ SOME_PORT: '0' }, 'SOME_PORT', port)).not.toBe(port);
});

it('a port that another program has is refused, with the variable that changes it', async () => {
  const port = await freePort();
  const server = await listenOn(port);
  await expect(choosePort({}, 'GATEWAY_PORT', port)).rejects.toThrow(
    `Port ${port} is taken by another program. End it, or choose another port: GATEWAY_PORT=${port + 1000} npm start`,
  );
  server.close();
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
  await expect(choosePort({ SOME_PORT: text }, 'SOME_PORT')).rejects.toThrow(
    `SOME_PORT=${text} is not a port: give a number from 0 (any free) to 65535.`,
  );
});
