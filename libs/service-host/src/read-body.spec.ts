import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { readBody } from './read-body';

it('a body whose caller left before anybody read it broke off at once', async () => {
  let outcome: Promise<unknown> = Promise.resolve('nothing came');
  const server = createServer((req) => {
    const left = new Promise((resolve) => req.once('close', resolve));
    req.on('error', () => undefined);
    req.socket.destroy();
    outcome = left.then(() =>
      readBody(req, 1_000, { idleMs: 60_000, wholeMs: 60_000, keep: () => undefined }),
    );
    outcome.catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.on('error', () => undefined);
  caller.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
  await once(caller, 'close');
  await expect(outcome).rejects.toThrow('broke off');
  server.close();
});
