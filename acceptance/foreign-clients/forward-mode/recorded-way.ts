import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What a client said on one connection to forward mode before anything was encrypted. */
export interface RecordedConnection {
  /** The heads of its CONNECTs: more than one where the first was refused. */
  readonly connects: readonly string[];
  /** The protocols that it offered by ALPN. Undefined: it offered none, or spoke no TLS. */
  readonly offered: readonly string[] | undefined;
}

export interface RecordedWay {
  readonly url: string;
  /** The connections since the last time. */
  take(): RecordedConnection[];
  close(): Promise<void>;
}

/** Leads to the server of this URL, and notes what clients say on the way. */
export async function startRecordedWay(target: string): Promise<RecordedWay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let said: Buffer[][] = [];
  const server = createServer((near) => {
    const parts: Buffer[] = [];
    said.push(parts);
    const far = connect(Number(port), hostname);
    near.on('data', (chunk: Buffer) => parts.push(chunk));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy()).on('close', () => sockets.delete(from));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = said.map((parts) => recorded(Buffer.concat(parts)));
      said = [];
      return taken;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function recorded(bytes: Buffer): RecordedConnection {
  const connects: string[] = [];
  let at = 0;
  while (bytes.toString('latin1', at, at + 8) === 'CONNECT ') {
    const end = bytes.indexOf('\r\n\r\n', at) + 4;
    connects.push(bytes.toString('latin1', at, end));
    at = end;
  }
  return { connects, offered: connects.length > 0 ? offeredIn(bytes.subarray(at)) : undefined };
}

const protocolNegotiation = 16;

/** Reads the extension of ALPN (RFC 7301) in a ClientHello (RFC 8446, 4.1.2). */
function offeredIn(record: Buffer): string[] | undefined {
  if (record[0] !== 0x16 || record[5] !== 1) return undefined;
  // Behind record, message, version and random number.
  let at = 5 + 4 + 2 + 32;
  at += 1 + record.readUInt8(at);
  at += 2 + record.readUInt16BE(at);
  at += 1 + record.readUInt8(at);
  const end = at + 2 + record.readUInt16BE(at);
  at += 2;
  while (at < end) {
    const [type, length] = [record.readUInt16BE(at), record.readUInt16BE(at + 2)];
    at += 4;
    if (type === protocolNegotiation) return namesIn(record.subarray(at + 2, at + length));
    at += length;
  }
  return undefined;
}

function namesIn(list: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < list.length;) {
    const end = at + 1 + list.readUInt8(at);
    names.push(list.toString('latin1', at + 1, end));
    at = end;
  }
  return names;
}
