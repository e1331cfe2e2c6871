import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { contextOf } from '../context';
import { Forwarding } from '../forwarding';
import { interruptionsOf } from '../run/spec-lender';
import { hear } from './listen';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function urlOf(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('a listener is renewed while a receiver hangs, without another reading, and not after that', async () => {
  const { interruptions } = interruptionsOf();
  const asked: string[] = [];
  let hung: ServerResponse | undefined;
  const receiver = await urlOf((_, response) => (hung = response));
  const copy = { id: 'a', webhook_id: 'msg_a', created_at: '2026-01-31T12:00:00.000Z' };
  const glovebox = await urlOf(({ method, url = '' }, response) => {
    if (method === 'DELETE') return void response.writeHead(204).end();
    const { searchParams } = new URL(url, 'http://localhost');
    const said = searchParams.toString();
    asked.push(said);
    response.setHeader('content-type', 'application/json');
    if (searchParams.get('copies') === 'none') {
      // The second renewal fails, and the third one comes all the same.
      response.statusCode = asked.length === 3 ? 503 : 200;
      response.end('{"after":"0","data":[]}');
      if (asked.length === 4) hung?.end();
      return;
    }
    if (said === 'after=0') {
      response.end(
        JSON.stringify({ after: '1', data: [{ ...copy, headers: {}, body: '{"raw":1}' }] }),
      );
      return;
    }
    interruptions.end();
  });
  const output = { isTTY: false, write: () => true } as unknown as NodeJS.WriteStream;
  const context = contextOf(
    { json: true, color: false },
    { GLOVEBOX_URL: glovebox, GLOVEBOX_KEY: 'key_of_tests', HOME: '/nowhere' },
    { cwd: () => '/', stdout: output as never, stderr: output as never },
    interruptions,
  );
  const forwarding = new Forwarding(context, receiver, undefined, undefined);
  const listener = { id: 'listener', after: '0' };
  const isLost = await hear(context, listener, (copies) => forwarding.all(copies), 20);
  expect(isLost).toBe(false);
  const renewal = 'after=0&wait=0&copies=none';
  expect(asked.slice(0, 4)).toEqual(['after=0', renewal, renewal, renewal]);
  expect(asked.slice(4).filter((said) => said !== renewal)).toEqual(['after=1']);
});
