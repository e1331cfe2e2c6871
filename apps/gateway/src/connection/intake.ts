import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBeenHere, hopHeader } from '@glovebox/egress';
import type { BodyContext } from '@glovebox/expressions';
import { methodNotAllowed, Problem } from '@glovebox/problems';
import { endConnection } from './caller-connection';
import { forwardedMethods } from './route';

const headersMax = 256;
const hostPattern = /^(?:[\w.~%-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
/** A path without characters that one server takes for its end and another does not. */
const targetPattern = /^\/[!-"$-~]*$/;

/**
 * Refuses requests that Node's strict parser lets through although the next server may read them
 * differently, and methods that the path does not take. Runs before anything else looks at the
 * request. Nothing more is read from a connection with such a request or an unknown method.
 */
export function refuseAmbiguous(
  req: IncomingMessage,
  res: ServerResponse,
  allow: readonly string[],
): void {
  const method = req.method ?? '';
  const isKnown = forwardedMethods.includes(method) || allow.includes(method);
  const fault = isKnown ? faultOf(req) : methodNotAllowed(allow);
  if (fault) {
    endConnection(res);
    throw fault;
  }
  if (!allow.includes(method)) throw methodNotAllowed(allow);
}

const loopHeader = hopHeader.toLowerCase();

/** Refused at the first return, because each round could make several calls of one. */
export function refuseLoop(
  { hopMarker }: { readonly hopMarker: string },
  { headers }: IncomingMessage,
): void {
  // Node joins several lines of this header into one.
  const list = headers[loopHeader];
  if (typeof list === 'string' && hasBeenHere(list, hopMarker)) throw new Problem('loop_detected');
}

/** Hot path: looks at the length of each header's name, and at the name only if the length fits. */
function faultOf(req: IncomingMessage): Problem | undefined {
  const { rawHeaders: raw, httpVersion } = req;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return fault('The HTTP version is not supported.');
  if (!targetPattern.test(req.url ?? '')) return fault('The request target must be a plain path.');
  if (raw.length > 2 * headersMax) return fault(`There are more than ${headersMax} headers.`, 431);
  let hosts = 0;
  let lengths = 0;
  let encodings = 0;
  let types = 0;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const value = raw[at + 1] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') {
      hosts += 1;
      if (!hostPattern.test(value)) return fault('The Host header is not valid.');
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') lengths += 1;
    else if (name.length === 12 && name.toLowerCase() === 'content-type') types += 1;
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      encodings += 1;
      if (value.toLowerCase() !== 'chunked')
        return fault('The transfer encoding is not supported.');
    }
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    return fault('The request must have exactly one Host header.');
  if (encodings + lengths > 1) return fault('The length of the body is ambiguous.');
  // Node takes the first. A value filled in as text could add members to what the next server reads
  // as JSON.
  if (types > 1) return fault('There is more than one Content-Type.');
  if (encodings > 0 && httpVersion === '1.0') return fault('HTTP/1.0 has no transfer encoding.');
  return expectationFault(req);
}

function expectationFault({ headers, httpVersion }: IncomingMessage): Problem | undefined {
  const { expect } = headers;
  if (expect === undefined || httpVersion === '1.0') return undefined;
  if (expect.toLowerCase() === '100-continue') return undefined;
  return fault('The only supported expectation is 100-continue.', 417);
}

function fault(detail: string, status = 400): Problem {
  return new Problem('invalid_request', { detail, status });
}

export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The media type of a request without its parameters, lower-cased. */
export function mediaType(req: IncomingMessage): string {
  return withoutParameters(req.headers['content-type'] ?? '');
}

export function withoutParameters(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

function isJson(type: string): boolean {
  return (
    type === 'application/json' ||
    type === 'text/json' ||
    /^[\w.!#$&^+-]+\/[\w.!#$&^+-]+\+json$/.test(type)
  );
}

/** The way a body of this type is read. Undefined: it is not read. */
export function contextOfType(type: string): BodyContext | undefined {
  if (isJson(type)) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return type === '' || textType.test(type) ? 'text' : undefined;
}

/** The list of docs/reference/limits.md. */
const textType =
  /^text\/|^application\/(?:ecmascript|graphql|jsonl|(?:x-)?(?:javascript|ndjson|yaml)|xml)$|\+(?:xml|yaml)$/;

/** Sends `100 Continue` to a caller that waits for it, after every check of the head. */
export function admitBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers.expect !== undefined && req.httpVersion !== '1.0') res.writeContinue();
}
