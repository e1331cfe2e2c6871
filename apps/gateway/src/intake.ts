import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@glovebox/problems';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Node's parser is strict; these it lets through, and each of them means one thing to us and may
 * mean another to the next server. Refused before anything else looks at the request.
 */
export function refuseAmbiguous(req: IncomingMessage): void {
  if (!methods.has(req.method ?? '')) throw new Problem('method_not_allowed');
  if (!req.url?.startsWith('/')) refuse('The request target must be a path.');
  const transferEncoding = req.headers['transfer-encoding'];
  if (transferEncoding !== undefined) {
    if (transferEncoding.toLowerCase() !== 'chunked') refuse('The transfer encoding is not known.');
    if (req.httpVersion === '1.0') refuse('HTTP/1.0 has no transfer encoding.');
    if (req.headers['content-length'] !== undefined) refuse('The length of the body is ambiguous.');
  }
  if ((req.headersDistinct.host?.length ?? 0) > 1) refuse('There must be one Host header.');
}

function refuse(detail: string): never {
  throw new Problem('invalid_request', { detail });
}

export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The whole body, or 413 as soon as it is known to be too large. */
export async function readBody(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const tooLarge = (): Problem =>
    new Problem('payload_too_large', { detail: `The body may have at most ${bytesMax} bytes.` });
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** The media type without its parameters, lower-cased. */
export function mediaType(req: IncomingMessage): string {
  return (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export function isJson(type: string): boolean {
  return type === 'application/json' || /^[\w.-]+\/[\w.-]+\+json$/.test(type);
}

/** A caller that waits for `100 Continue` hears it only now, behind every check of the head. */
export function admitBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
}
