import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { checkOfProcess } from './process-check';

async function find(definitions: string): Promise<unknown> {
  const server = createServer((_request, response) => {
    response.writeHead(503).end(JSON.stringify({ components: { definitions } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const { run } = checkOfProcess('process', `http://127.0.0.1:${port}`);
    return await run(AbortSignal.timeout(5_000));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it('a process that waits for after-restore is a fault whose remedy is that command', async () => {
  expect(await find('restored, waits for after-restore')).toMatchObject({
    condition: 'fault',
    remedy: expect.stringContaining('after-restore --status') as string,
  });
  expect(await find('down')).toMatchObject({
    condition: 'fault',
    remedy: expect.stringContaining('log of the process') as string,
  });
});
