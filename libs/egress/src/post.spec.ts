import type { IncomingMessage, RequestListener } from 'node:http';
import { createAuthority, waitFor } from '@glovebox/testing';
import { egressOf } from './__fixtures__/egress';
import { startHttpServer, startHttpsServer, startTcpServer } from './__fixtures__/servers';

const closers: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

const egressTo = (...allow: string[]) => egressOf({ allow });

const message = {
  owner: 'tenant',
  headers: { 'webhook-id': 'msg_1' },
  body: '{"ü":1}',
  timeoutMs: 2_000,
};

async function receiver(answer: RequestListener) {
  const server = await startHttpServer(answer);
  closers.push(server.close);
  const post = (parts: Partial<typeof message> = {}) =>
    egressTo(`127.0.0.1:${server.port}`).post(`http://127.0.0.1:${server.port}/hook?a=b`, {
      ...message,
      ...parts,
    });
  return { ...server, post };
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return text;
}

describe('post', () => {
  it('sends headers and body to the URL, and returns status and headers', async () => {
    const seen: unknown[] = [];
    const { post, port, connections } = await receiver((req, res) => {
      void textOf(req).then((body) => {
        seen.push([req.method, req.url, req.headers, body]);
        res.writeHead(429, { 'retry-after': '7' }).end('later');
      });
    });
    const answer = await post();
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('7');
    expect(seen).toEqual([
      [
        'POST',
        '/hook?a=b',
        {
          'webhook-id': 'msg_1',
          host: `127.0.0.1:${port}`,
          'content-length': '8',
          connection: 'close',
        },
        '{"ü":1}',
      ],
    ]);
    await waitFor(() => connections.every(({ destroyed }) => destroyed));
  });

  it('speaks https and checks the certificate against the name', async () => {
    const authority = createAuthority();
    const server = await startHttpsServer(authority.issue('DNS:localhost'), (_req, res) => {
      res.writeHead(204).end();
    });
    closers.push(server.close);
    const egress = egressTo(`127.0.0.1:${server.port}`, `[::1]:${server.port}`);
    const url = `https://localhost:${server.port}/`;
    expect((await egress.post(url, { ...message, ca: authority.ca })).status).toBe(204);
    await expect(egress.post(url, message)).rejects.toMatchObject({ name: 'EgressUnreachable' });
  });

  it('does not follow redirects', async () => {
    let requests = 0;
    const { post } = await receiver((_req, res) => {
      requests += 1;
      res.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect((await post()).status).toBe(307);
    expect(requests).toBe(1);
  });

  it.each(['http://127.0.0.1:1/', 'https://10.0.0.1/', 'https://localhost/', 'https://u:p@host/'])(
    'refuses %s',
    async (url) => {
      const refused = egressTo('127.0.0.9:1').post(url, message);
      await expect(refused).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
    },
  );

  it('waits for a silent receiver no longer than its time', async () => {
    const { post, connections } = await receiver(() => undefined);
    await expect(post({ timeoutMs: 200 })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    await waitFor(() => connections.every(({ destroyed }) => destroyed));
  });

  it('returns the status of a receiver that drips when the time is over', async () => {
    const { post } = await receiver((_req, res) => {
      res.writeHead(200);
      const drip = setInterval(() => res.write('.'), 20);
      res.on('close', () => clearInterval(drip));
    });
    expect((await post({ timeoutMs: 200 })).status).toBe(200);
  });

  it('does not read an answer without end', async () => {
    let sent = 0;
    const { post } = await receiver((_req, res) => {
      res.writeHead(200);
      const pour = () => {
        while (!res.destroyed && res.write(Buffer.alloc(16_384))) sent += 16_384;
      };
      res.on('drain', pour);
      pour();
    });
    expect((await post()).status).toBe(200);
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  it.each([
    'HTTP/1.1 banana\r\n\r\n',
    'SSH-2.0\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
    '',
  ])('treats a malformed answer as none: %j', async (raw) => {
    const server = await startTcpServer((socket) => {
      socket.once('data', () => socket.end(raw));
    });
    closers.push(server.close);
    const failed = egressTo(`127.0.0.1:${server.port}`).post(
      `http://127.0.0.1:${server.port}/`,
      message,
    );
    await expect(failed).rejects.toMatchObject({ name: 'EgressUnreachable' });
  });

  it('treats an upgrade that nobody asked for as no answer', async () => {
    const server = await startTcpServer((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      );
    });
    closers.push(server.close);
    const failed = egressTo(`127.0.0.1:${server.port}`).post(
      `http://127.0.0.1:${server.port}/`,
      message,
    );
    await expect(failed).rejects.toMatchObject({ code: 'EPROTO' });
  });
});
