import type { Socket } from 'node:net';
import { EgressRefused } from './refusal';

type Chunk = Buffer | string;
type Written = (error?: Error | null) => void;

const tlsHandshake = 0x16;

/**
 * For connections whose bytes are not ours, such as the sockets of sandboxed code: the first byte
 * sent must open a TLS handshake. Nothing else tells whether plain http will follow.
 */
export function refusePlainText(socket: Socket): void {
  /** Checks the first byte. After that the socket's own methods write. */
  const pass = (first: number | undefined, written: Written, write: () => void): void => {
    if (first === undefined) return written();
    if (first !== tlsHandshake) return written(new EgressRefused('plain_http'));
    Reflect.deleteProperty(socket, '_write');
    Reflect.deleteProperty(socket, '_writev');
    write();
  };
  socket._write = (chunk: Chunk, encoding, written) =>
    pass(firstByte(chunk, encoding), written, () => socket._write(chunk, encoding, written));
  socket._writev = (chunks: Array<{ chunk: Chunk; encoding: BufferEncoding }>, written) => {
    const first = chunks
      .map(({ chunk, encoding }) => firstByte(chunk, encoding))
      .find((byte) => byte !== undefined);
    pass(first, written, () => socket._writev?.(chunks, written));
  };
}

const firstByte = (chunk: Chunk, encoding: BufferEncoding): number | undefined =>
  (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)[0];
