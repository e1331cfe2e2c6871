import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { closeServer, watchServer } from './close-server';

async function serve(answerAfterMs: number | 'never'): Promise<{ server: Server; port: number }> {
  const server = createServer((_req, res) => {
    if (answerAfterMs !== 'never') setTimeout(() => res.end('done'), answerAfterMs);
  });
  watchServer(server);
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
  const [text, { headers }] = await asked;
  expect([text, headers.connection]).toEqual(['done', 'close']);
  await closing;
  agent.destroy();
});

it('a request on a kept connection is still answered, as its last one', async () => {
  const { server, port } = await serve(0);
  const agent = new Agent({ keepAlive: true });
  await ask(port, agent);
  const closing = closeServer(server);
  const [text, { headers }] = await ask(port, agent);
  expect([text, headers.connection]).toEqual(['done', 'close']);
  await closing;
  agent.destroy();
});

it('a kept connection does not keep the server from closing', async () => {
  const { server, port } = await serve(0);
  const agent = new Agent({ keepAlive: true });
  expect((await ask(port, agent))[1].headers.connection).toBe('keep-alive');
  await closeServer(server);
  agent.destroy();
});

it('a caller that waits for 100 Continue is told that its connection closes', async () => {
  const { server, port } = await serve(0);
  server.on('checkContinue', (_req, res) => res.end('done'));
  watchServer(server);
  const agent = new Agent({ keepAlive: true });
  await ask(port, agent);
  const closing = closeServer(server);
  const outgoing = request({ port, host: '127.0.0.1', agent, headers: { expect: '100-continue' } });
  outgoing.flushHeaders();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(answer.headers.connection).toBe('close');
  outgoing.destroy();
  await closing;
  agent.destroy();
});

it('an upgraded connection lasts until the last call has ended', async () => {
  const { server, port } = await serve(300);
  server.on('upgrade', (_req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    socket.on('data', (chunk) => socket.write(chunk));
  });
  const upgraded = connect(port, '127.0.0.1');
  upgraded.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  await once(upgraded, 'data');
  const agent = new Agent();
  const asked = ask(port, agent);
  await once(server, 'request');
  const closing = closeServer(server);
  await asked;
  upgraded.write('still here');
  expect(String((await once(upgraded, 'data'))[0])).toBe('still here');
  await Promise.all([once(upgraded, 'close'), closing]);
});

it('a connection that is still open at the limit is cut off', async () => {
  const { server, port } = await serve('never');
  const asked = ask(port, new Agent());
  await once(server, 'request');
  const failed = expect(asked).rejects.toThrow('socket hang up');
  await closeServer(server, { limitMs: 200 });
  await failed;
});

it('an answer that can no longer be sent does not keep the server from closing', async () => {
  const { server, port } = await serve('never');
  let asked = 0;
  server.on('request', () => (asked += 1));
  server.on('upgrade', (_req, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
  const upgraded = connect(port, '127.0.0.1');
  upgraded.on('error', () => undefined);
  upgraded.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  await once(upgraded, 'data');
  const impatient = connect(port, '127.0.0.1');
  impatient.on('error', () => undefined);
  impatient.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
  while (asked < 2) await once(server, 'request');
  impatient.destroy();
  await closeServer(server);
  expect(asked).toBe(2);
});
