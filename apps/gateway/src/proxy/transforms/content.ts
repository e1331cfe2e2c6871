import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Gunzip,
} from 'node:zlib';
import type { BodyContext } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { Collected, readBody } from '@glovebox/wire';
import type { Room } from '../../call/call-shares';
import type { CallerRequest } from '../../connection/caller-request';
import type { CallerResponse } from '../../connection/caller-response';
import { withoutNames } from '../../connection/forwarded-headers';
import { contextOfType, withoutParameters } from '../../connection/intake';
import { isSmallBody, joined, readSmallBody } from '../../connection/small-body';

/** The size of a body under a transform, on its way in and out, compressed or not. */
export const transformedBytesMax = 10 * 1024 * 1024;
/** The time from the first byte of a body under a transform to its last. */
export const transformedWithinMs = 30_000;

/** The context that a body is read in, and its content encoding. */
export interface BodyFormat {
  readonly context: BodyContext;
  readonly encoding: string;
}

/** Reads headers as name, value, name, value… Throws a Problem for a body of another kind. */
export function bodyFormatOf(headers: readonly string[]): BodyFormat {
  const type = valueOf(headers, 'content-type') ?? '';
  const context = contextOfType(withoutParameters(type));
  if (!context) unsupported('Transforms take JSON, forms and text.');
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type) ?? [];
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) unsupported('Transforms take UTF-8.');
  const encoding = (valueOf(headers, 'content-encoding') || 'identity').trim().toLowerCase();
  if (!Object.hasOwn(unpackers, encoding)) unsupported('Transforms take gzip, deflate and br.');
  return { context, encoding };
}

export function valueOf(headers: readonly string[], name: string): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const other = headers[at] ?? '';
    if (other.length !== name.length || other.toLowerCase() !== name) continue;
    found = found === undefined ? headers[at + 1] : `${found}, ${headers[at + 1]}`;
  }
  return found;
}

/** Length and encoding no longer hold for a body that has been taken apart. */
export function withoutFraming(headers: readonly string[]): string[] {
  return withoutNames(
    headers,
    (lower) => lower === 'content-encoding' || lower === 'content-length',
  );
}

const ofBody = /^(?:content-digest|content-md5|digest|etag|repr-digest)$/i;

/**
 * Drops headers about the body as it was received. They are wrong for a changed body, and a digest
 * can reveal a masked value.
 */
export function withoutDigests(headers: readonly string[], received: readonly string[]): string[] {
  const stale = new Set<string>();
  for (let at = 0; at + 1 < received.length; at += 2) {
    if (ofBody.test(received[at] ?? '')) stale.add(received[at + 1] ?? '');
  }
  if (stale.size === 0) return [...headers];
  const isStale = (at: number): boolean =>
    ofBody.test(headers[at] ?? '') && stale.has(headers[at + 1] ?? '');
  return headers.filter((_, at) => !isStale(at - (at % 2)));
}

/** Reads the caller's body, or throws 408 or 413. */
export async function readWhole(
  req: CallerRequest,
  res: CallerResponse,
  { idleMs, keep }: Room,
): Promise<Buffer> {
  const reading = { idleMs, wholeMs: transformedWithinMs, keep };
  if (!isSmallBody(req, transformedBytesMax)) return readBody(req, transformedBytesMax, reading);
  return joined(await readSmallBody(req, res, reading));
}

/** The text of a body, at once where nothing is to be unpacked. */
export function textOfBody(
  bytes: Buffer,
  { encoding }: BodyFormat,
  keep: (bytes: number) => void,
): string | Promise<string> {
  return encoding === 'identity' ? textOf(bytes) : unpack(bytes, encoding, keep).then(textOf);
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw unreadable('The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

type Unpacker = Gunzip | BrotliDecompress;

const gunzip = (): Unpacker => createGunzip();
const unpackers: Readonly<Record<string, ((bytes: Buffer) => Unpacker) | null>> = {
  identity: null,
  gzip: gunzip,
  'x-gzip': gunzip,
  br: () => createBrotliDecompress(),
  // Some senders leave out the two bytes of zlib.
  deflate: (bytes) => (((bytes[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()),
};

async function unpack(
  bytes: Buffer,
  encoding: string,
  keep: (bytes: number) => void,
): Promise<Buffer> {
  const create = unpackers[encoding];
  if (!create || bytes.length === 0) return bytes;
  const collected = new Collected(transformedBytesMax, keep);
  try {
    await pipeline([bytes], create(bytes), async (unpacked: AsyncIterable<Buffer>) => {
      for await (const chunk of unpacked) {
        if (collected.length + chunk.length > transformedBytesMax) throw tooLarge();
        collected.add(chunk);
      }
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw unreadable(`The body is not valid ${encoding}.`, error);
  }
  return collected.bytes;
}

export function tooLarge(whose = 'body'): Problem {
  return new Problem('payload_too_large', {
    detail: `The ${whose} is limited to ${transformedBytesMax} bytes under a transform.`,
  });
}

function unreadable(detail: string, cause?: unknown): Problem {
  return new Problem('invalid_request', { detail, cause });
}

function unsupported(detail: string): never {
  throw new Problem('unsupported_media_type', { detail });
}
