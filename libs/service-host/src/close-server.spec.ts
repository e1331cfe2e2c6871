import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer } from './ops-server';

async function serve(answerAfterMs: number): Promise<{ server: Server; port: number }> {
  const server = createServer((_req, res) => {
    setTimeout(() => res.end('done'), answerAfterMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function ask(port: number, agent: Agent): Promise<[string, IncomingMessage]> {
  const outgoing = request({ port, host: '127.0.0.1', agent }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return [text, answer];
}

it('a request under way is answered before the server closes', async () => {
  const { server, port } = await serve(300);
  const agent = new Agent({ keepAlive: true });
  const asked = ask(port, agent);
  await once(server, 'request');
  const closing = closeServer(server);
  expect((await asked)[0]).toBe('done');
  await closing;
  agent.destroy();
});

it('a request on a kept connection is still answered, as the last one of it', async () => {
  const { server, port } = await serve(0);
  const agent = new Agent({ keepAlive: true });
  await ask(port, agent);
  const closing = closeServer(server);
  const [text, { headers }] = await ask(port, agent);
  expect([text, headers.connection]).toEqual(['done', 'close']);
  await closing;
  agent.destroy();
});

it('a connection that is kept does not keep the server', async () => {
  const { server, port } = await serve(0);
  const agent = new Agent({ keepAlive: true });
  expect((await ask(port, agent))[1].headers.connection).toBe('keep-alive');
  await closeServer(server);
  agent.destroy();
});
