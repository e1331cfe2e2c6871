import type { Server } from 'node:http';
import type { ProxyDefinition } from '@glovebox/definitions';
import {
  matching,
  openPlainTunnelTo,
  openTunnelTo,
  type SpecForward,
} from './forward/spec-forward';
import { RawCaller } from './spec-sockets';

/** A way to a proxy, and how a caller writes its requests there. */
export interface Entry {
  /** The server that takes the connections. */
  readonly server: Server;
  /** Opens a connection, and sends these bytes on it. */
  call(bytes: string): Promise<RawCaller>;
  /** The target of a request for a path of the proxy. */
  target(path: string): string;
  /** The headers that a request needs, with its Host. */
  readonly keys: string;
}

/** The entries whose connections differ. */
export const connectionNames = ['at /proxy', 'in a tunnel', 'in a tunnel without TLS'] as const;

export const entryNames = [...connectionNames, 'with a whole URL'] as const;

type EntryName = (typeof entryNames)[number];

export type Entries = Readonly<Record<EntryName, Entry>>;

interface EntryOptions extends Omit<Partial<ProxyDefinition>, 'tenantId'> {
  readonly host?: string;
  readonly tenantId?: SpecForward['tenantId'];
}

/** Makes a proxy that is reached by all entries. In forward mode it has this host for its own. */
export async function openEntries(
  spec: SpecForward,
  destinationUrl: string,
  { host = 'a', tenantId = spec.tenantId, ...changes }: EntryOptions = {},
): Promise<Entries> {
  await spec.defineAuthority(tenantId);
  const key = await spec.application(['token:use'], tenantId);
  const match = matching([host, `http://${host}`]);
  const proxyKey = await spec.proxy(destinationUrl, { tenantId, ...match, ...changes });
  const named = `Host: ${host}\r\n`;
  const at = (port: number) => (bytes: string) => Promise.resolve(new RawCaller(port, bytes));
  const itself = (path: string): string => path;
  const { server, forwardServer } = spec;
  return {
    'at /proxy': {
      server,
      call: at(spec.port),
      target: (path) => `/proxy${path}`,
      keys: `${named}SVC-API-KEY: ${key}\r\nSVC-PROXY-KEY: ${proxyKey}\r\n`,
    },
    'in a tunnel': {
      ...{ server: forwardServer, target: itself, keys: named },
      call: async (bytes) => {
        const { socket, carrier } = await openTunnelTo(spec, `${host}:443`, key);
        return Object.assign(new RawCaller(socket, bytes), { carrier });
      },
    },
    'in a tunnel without TLS': {
      ...{ server: forwardServer, target: itself, keys: named },
      call: async (bytes) => {
        const { socket } = await openPlainTunnelTo(spec, `${host}:80`, key);
        return new RawCaller(socket, bytes);
      },
    },
    'with a whole URL': {
      server: forwardServer,
      call: at(spec.forwardPort),
      target: (path) => `http://${host}${path}`,
      keys: `${named}Proxy-Authorization: Bearer ${key}\r\n`,
    },
  };
}

/** Does at all entries at once what waits for time-outs. */
export async function atAll(
  entries: Entries,
  work: (entry: Entry, name: EntryName) => Promise<void>,
): Promise<void> {
  const named = async (name: EntryName): Promise<void> => {
    try {
      await work(entries[name], name);
    } catch (cause) {
      throw new Error(name, { cause });
    }
  };
  await Promise.all(entryNames.map(named));
}
