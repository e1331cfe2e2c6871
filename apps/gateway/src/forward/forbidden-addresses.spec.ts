import { forbiddenHosts, waitFor } from '@glovebox/testing';
import { RawCaller } from '../spec-sockets';
import { readAuthority } from './forward-target';
import {
  matching,
  openPlainTunnelTo,
  sendConnect,
  startSpecForward,
  type SpecForward,
} from './spec-forward';

let spec: SpecForward;
let key: string;

beforeAll(async () => {
  // Plain http is allowed, and no address: the address alone is why a request is refused.
  spec = await startSpecForward({ EGRESS_ALLOW: '', EGRESS_ALLOW_HTTP: 'true' });
  key = await spec.application(['token:use']);
});
afterAll(() => spec.close());

const hosts = forbiddenHosts.flat();
/** HTTP carries no others, which the parser refuses. */
const sendable = hosts.filter((host) => /^[!-~]+$/.test(host));
const patternOf = (host: string): readonly string[] =>
  readAuthority(host, 'http')?.hostPatterns.slice(0, 1) ?? [];

/** The statuses of those that can be read in one way, and of the others. */
const refused = /^HTTP\/1\.1 (?:403 [^]*"forward_denied"[^]*The address of the request|400 )/;

async function askForWhole(host: string): Promise<string> {
  const caller = new RawCaller(
    spec.forwardPort,
    `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n` +
      `Proxy-Authorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  );
  await waitFor(() => caller.ended);
  return caller.text;
}

describe.each(['expressions', 'tunnel'])('with forward_unmatched %s', (forward_unmatched) => {
  beforeAll(() => spec.tenantSettings({ forward_unmatched }));

  it('CONNECT reaches no forbidden address in any spelling', async () => {
    for (const host of hosts) {
      const client = await sendConnect(spec.forwardPort, `${host}:443`, key);
      expect([host, await client.done()]).toEqual([host, expect.stringMatching(refused)]);
    }
  });

  it('a whole URL reaches no forbidden address in any spelling', async () => {
    for (const host of hosts) {
      expect([host, await askForWhole(host)]).toEqual([host, expect.stringMatching(refused)]);
    }
  });

  it('no service of ours is reached by CONNECT or by a whole URL', async () => {
    for (const port of Object.values(spec.ports)) {
      const client = await sendConnect(spec.forwardPort, `127.0.0.1:${port}`, key);
      expect(await client.done()).toMatch(refused);
      expect(await askForWhole(`127.0.0.1:${port}`)).toMatch(refused);
    }
  });
});

describe('through a proxy that sends to the origin of the request', () => {
  beforeAll(async () => {
    await spec.tenantSettings({});
    const patterns = [...new Set(hosts.flatMap(patternOf))];
    await spec.proxy('https://elsewhere.example', {
      ...matching(patterns),
      forwardTo: 'request',
    });
  });

  it('a request in a tunnel reaches no forbidden address in any spelling', async () => {
    for (const host of sendable.filter((one) => patternOf(one).length > 0)) {
      const client = await openPlainTunnelTo(spec, `${host}:80`, key);
      expect([host, await client.get('/', host)]).toEqual([host, 403]);
      expect(client.text).toMatch(refused);
      client.socket.destroy();
    }
  });

  it('a whole URL reaches no forbidden address in any spelling', async () => {
    for (const host of hosts) {
      expect([host, await askForWhole(host)]).toEqual([host, expect.stringMatching(refused)]);
    }
  });
});
