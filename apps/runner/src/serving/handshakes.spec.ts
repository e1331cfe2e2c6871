import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '@glovebox/testing';
import { Handshakes } from './handshakes';

it('a stranger with too many handshakes loses its own oldest, not that of a slow caller', async () => {
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket.on('error', () => undefined));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opened = ['127.0.0.1', ...Array.from({ length: 300 }, () => '127.0.0.2')].map(
    (localAddress) =>
      connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined),
  );
  await waitFor(() => accepted.length === opened.length);

  const ended: string[] = [];
  const handshakes = new Handshakes((reason) => ended.push(reason));
  const [slow, ...strangers] = accepted.sort((a, b) => placeOf(a) - placeOf(b));
  for (const socket of [slow, ...strangers]) if (socket) handshakes.begin(socket);

  expect(slow?.destroyed).toBe(false);
  expect(strangers.map(({ destroyed }) => destroyed)).toEqual(
    strangers.map((_, place) => place < 301 - 256),
  );
  expect(ended).toEqual(Array.from({ length: 301 - 256 }, () => 'too many handshakes at once'));
  for (const socket of opened) socket.destroy();
  const closed = once(server, 'close');
  server.close();
  await closed;
});

const placeOf = (socket: Socket): number => (socket.remoteAddress === '127.0.0.1' ? 0 : 1);
