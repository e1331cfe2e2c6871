import type { Egress } from './egress';
import { EgressRefused, EgressUnreachable } from './refusal';

interface Found {
  readonly condition: 'ok' | 'warning' | 'fault';
  readonly says: string;
  readonly remedy?: string;
}

/** Nothing that is not ours has an address here. */
const forbidden = [
  { host: '169.254.169.254', port: 80, is: 'the metadata service of a cloud' },
  { host: '10.0.0.1', port: 443, is: 'a private address' },
  { host: '127.0.0.1', port: 22, is: 'this machine' },
];

/**
 * Tries what must be refused. A connection that the policy lets out is made for real, and ended at
 * once.
 */
export async function findOpenWays(
  egress: Egress,
  own: readonly string[],
  signal: AbortSignal,
): Promise<Found> {
  const services = own
    .filter((url) => URL.canParse(url))
    .flatMap((url) => {
      const { hostname, port } = new URL(url);
      return port === '' ? [] : [{ host: hostname, port: Number(port), is: 'a service of ours' }];
    });
  const open: string[] = [];
  for (const { host, port, is } of [...services, ...forbidden]) {
    const target = { owner: 'doctor', host, port, tls: false, signal, timeoutMs: 500 };
    const refused = await egress.dial(target).then(
      (socket) => void socket.destroy(),
      (error: unknown) => error instanceof EgressRefused,
    );
    if (!refused) open.push(`${is} (${host}:${port})`);
  }
  const [first] = open;
  if (first === undefined) {
    return { condition: 'ok', says: 'private addresses and our own services are refused' };
  }
  const isOwn = open.some((what) => what.startsWith('a service of ours'));
  return {
    condition: isOwn ? 'fault' : 'warning',
    says: `not refused: ${open.join(', ')}`,
    remedy: 'Make EGRESS_ALLOW narrower: it names addresses that code and URLs of customers reach',
  };
}

/** Asks the resolvers for a name. An answer that there is no such name is one. */
export async function askResolvers(egress: Egress, signal: AbortSignal): Promise<Found> {
  const host = 'example.com';
  try {
    await egress.lookUp({ owner: 'doctor', host, signal });
  } catch (error) {
    if (!(error instanceof EgressUnreachable) || error.code !== 'ENOTFOUND') {
      const reason = error instanceof EgressUnreachable ? error.reason : 'no name server answered';
      return {
        condition: 'fault',
        says: `${host}: ${reason}`,
        remedy: 'Name resolvers that answer in EGRESS_DNS, and let this app reach them on port 53',
      };
    }
  }
  return { condition: 'ok', says: 'the resolvers answer' };
}
