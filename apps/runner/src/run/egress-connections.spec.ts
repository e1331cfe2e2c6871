import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import type { JsonObject } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { EgressConnections } from './egress-connections';

it('half of a ClientHello never leaves a narrowed run, whose connection is reset after 5 s', async () => {
  let heard = 0;
  const server = createServer((socket) =>
    socket.on('error', () => undefined).on('data', ({ length }) => (heard += length)),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const events: JsonObject[] = [];
  const wayOut = {
    dial: () => Promise.resolve(connect(port, '127.0.0.1')),
    lookUp: () => Promise.resolve([]),
    note: () => undefined,
  };
  const connections = new EgressConnections(wayOut, {
    sendEvent: (event) => events.push(event),
    sendData: () => undefined,
  });
  const run = { tenantId: 'tenant', resourceId: 'resource', network: true };
  connections.narrow([`allowed.test:${port}`]);
  const { stream } = await connections.open(run, { host: 'allowed.test', port });
  connections.onData(stream, Buffer.from([0x16, 3, 1, 1, 0]));
  connections.onData(stream, Buffer.from([1, 0, 0]));
  await waitFor(() => events.length > 0);
  expect(events).toEqual([{ stream, event: 'close', code: 'EDESTINATION' }]);
  expect(heard).toBe(0);
  connections.closeAll('ended');
  server.close();
});
