import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startDestination, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';

let gateway: SpecGateway;
let destination: Destination;
let key: string;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination();
  key = await gateway.application(['token:use']);
});
afterEach(() => {
  destination.requests.length = 0;
});
afterAll(async () => {
  await gateway.close();
  await destination.close();
});

/** Starts a server that passes each request on with all its headers, `copies` times. */
async function startForwarder(to: () => string, copies = 1) {
  const seen: IncomingMessage[] = [];
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    seen.push(req);
    if (seen.length > 16) return void res.end();
    const answers = Array.from({ length: copies }, async () => {
      const { host: _, connection: __, ...headers } = req.headers;
      const outgoing = request(to(), { method: req.method, headers, agent: false }).end();
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      let body = '';
      for await (const chunk of answer) body += String(chunk);
      return { status: answer.statusCode ?? 0, body };
    });
    void Promise.all(answers).then(([first]) => {
      res.writeHead(first?.status ?? 502).end(first?.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => new Promise<unknown>((resolve) => server.close(resolve)),
  };
}

const lists = (): string[] =>
  destination.requests.map(({ headers }) => String(headers['cdn-loop'] ?? ''));

describe('a request that comes back to the base URL', () => {
  it('is refused at its first return, so that one call of an anonymous proxy does not become many', async () => {
    let proxyKey = '';
    const forwarder = await startForwarder(
      () => `${gateway.url}/proxy?svc-proxy-key=${proxyKey}`,
      2,
    );
    proxyKey = await gateway.proxy(forwarder.url, { requireAuth: false });
    try {
      const answer = await fetch(`${gateway.url}/proxy?svc-proxy-key=${proxyKey}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        proxy_error: { status: 400, code: 'loop_detected' },
      });
      expect(forwarder.seen).toHaveLength(1);
    } finally {
      await forwarder.close();
    }
  });

  it.each(['/proxy', '/reactors/00000000-0000-4000-8000-000000000000/react', '/tokens'])(
    'is refused at %s',
    async (path) => {
      const answer = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'SVC-API-KEY': key, 'CDN-Loop': `other, ${gateway.ctx.hopMarker}` },
      });
      const body = (await answer.json()) as { code?: string; proxy_error?: { code: string } };
      expect([answer.status, (body.proxy_error ?? body).code]).toEqual([400, 'loop_detected']);
      expect(gateway.management.requests).toEqual([]);
    },
  );

  it('is served when it comes through another installation', async () => {
    const other = await startSpecGateway();
    try {
      expect(other.ctx.hopMarker).not.toBe(gateway.ctx.hopMarker);
      const inner = await gateway.proxy(destination.url, { requireAuth: false });
      const outer = await other.proxy(`${gateway.url}/proxy/inner?svc-proxy-key=${inner}`, {
        requireAuth: false,
      });
      const answer = await fetch(`${other.url}/proxy?svc-proxy-key=${outer}`);
      expect(answer.status).toBe(200);
      expect(lists()).toEqual([`${other.ctx.hopMarker}, ${gateway.ctx.hopMarker}`]);
    } finally {
      await other.close();
    }
  });
});

describe('the CDN-Loop list of a request', () => {
  const call = async (headers: Record<string, string>): Promise<number> => {
    const proxyKey = await gateway.proxy(destination.url);
    const answer = request(`${gateway.url}/proxy`, {
      headers: { 'SVC-API-KEY': key, 'SVC-PROXY-KEY': proxyKey, ...headers },
      agent: false,
    }).end();
    const [{ statusCode = 0 }] = (await once(answer, 'response')) as [IncomingMessage];
    return statusCode;
  };

  it('is passed on with the caller’s entries and our own', async () => {
    expect(await call({ 'CDN-Loop': 'first, second; v="1"' })).toBe(200);
    expect(lists()).toEqual([`first, second; v="1", ${gateway.ctx.hopMarker}`]);
  });

  it('cannot be removed by a caller’s Connection header', async () => {
    expect(await call({ Connection: 'close, CDN-Loop', 'CDN-Loop': 'first' })).toBe(400);
    expect(destination.requests).toEqual([]);
  });
});
