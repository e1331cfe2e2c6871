import { startDestination, waitFor, type Destination } from '@glovebox/testing';
import { startSpecForward, type SpecForward } from './forward/spec-forward';
import { entryNames, openEntries, type Entries } from './spec-entries';
import type { RawCaller } from './spec-sockets';

let gateway: SpecForward;
let destination: Destination;
let entries: Entries;

beforeAll(async () => {
  gateway = await startSpecForward();
  destination = await startDestination();
  entries = await openEntries(gateway, destination.url);
});
afterEach(() => {
  destination.requests.length = 0;
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

describe.each(entryNames)('a request %s', (name) => {
  async function get(path: string, ...headers: string[]): Promise<RawCaller> {
    const { call, target, keys } = entries[name];
    const lines = [`GET ${target(path)} HTTP/1.1`, ...headers, `${keys}Connection: close`, '', ''];
    const caller = await call(lines.join('\r\n'));
    await waitFor(() => caller.ended);
    return caller;
  }

  it.each(['/..', '/a/../b', '/a/%2e%2e/b', '/a%2f..%2fb', '/a\\b', '/..;/b'])(
    'for the path %s, which climbs, is refused',
    async (path) => {
      expect((await get(path)).status).toBe(400);
      expect(destination.requests).toEqual([]);
    },
  );

  it('gives the destination no header of ours, and none of one connection', async () => {
    const own = ['SVC-Own: x', 'Proxy-Connection: keep-alive', 'X-Forwarded-For: 1.1.1.1'];
    const { status } = await get('/', ...own, 'X-Hop: 1', 'Connection: X-Hop', 'Authorization: me');
    expect(status).toBe(200);
    const [heard] = destination.requests;
    expect(JSON.stringify(heard?.headers)).not.toMatch(/svc-|proxy-|forwarded|x-hop/);
    expect(heard?.headers).toMatchObject({ authorization: 'me' });
  });

  it('that has been here before is refused', async () => {
    expect((await get('/', `CDN-Loop: ${gateway.ctx.hopMarker}`)).text).toContain('loop_detected');
  });
});
