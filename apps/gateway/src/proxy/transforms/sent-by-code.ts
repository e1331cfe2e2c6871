import { Problem } from '@glovebox/problems';
import { isHttpStatus } from '@glovebox/sandbox';
import { isJsonObject, isReservedHeader, type ServiceHeaders } from '@glovebox/wire';
import { withoutParameters } from '../../connection/intake';
import { transformedBytesMax, valueOf } from './content';

/** A message made by code, fit to be sent. */
export interface Sendable {
  /** Undefined when code gave none. */
  readonly status: number | undefined;
  /** Name, value, name, value… */
  readonly headers: string[];
  readonly body: Buffer | null;
}

/** A message that can be an answer. */
export interface MadeAnswer extends Sendable {
  readonly status: number;
}

const returnedHeadersMax = 256;
const returnedHeaderBytesMax = 64 * 1024;

const messageMembers = {
  'request transform': ['headers', 'body'],
  'response transform': ['headers', 'body', 'status'],
} as const;

/** Names the code in errors. */
type Made = keyof typeof messageMembers;

/** Throws unless the value says something about a message: nothing would be sent as an empty one. */
export function requireMessage(value: unknown, made: Made): unknown {
  const members = messageMembers[made];
  if (isJsonObject(value) && members.some((name) => Object.hasOwn(value, name))) return value;
  throw unsendable(made, `an object with ${members.join(' or ')}`);
}

/** Makes a message of the value that code returned or threw. */
export function sendableOf(value: unknown, made: Made, ours: ServiceHeaders): Sendable {
  const { status, headers, body } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const nonsense = (what: string): Problem => unsendable(made, what);
  if (status !== undefined && status !== null && !isHttpStatus(status)) {
    throw nonsense('a status from 200 to 599, or none');
  }
  if (headers !== undefined && headers !== null && !isJsonObject(headers)) {
    throw nonsense('headers as an object');
  }
  const lines = linesOf(headers ?? {}, ours, nonsense);
  const bytes = bytesOf(body, lines, nonsense);
  if (bytes && bytes.length > transformedBytesMax) {
    throw nonsense(`a body of at most ${transformedBytesMax} bytes`);
  }
  return { status: isHttpStatus(status) ? status : undefined, headers: lines, body: bytes };
}

const unsendable = (made: Made, what: string): Problem =>
  new Problem('invalid_reactor_result', { detail: `The ${made} must return ${what}.` });

type Nonsense = (what: string) => Problem;

function linesOf(headers: object, ours: ServiceHeaders, nonsense: Nonsense): string[] {
  const lines: string[] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries(headers) as [string, unknown][]) {
    if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name)) throw nonsense('headers with names that can be sent');
    const lower = name.toLowerCase();
    if (isReservedHeader(lower) || ours.isOurs(lower)) continue;
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one === undefined || one === null) continue;
      if (typeof one === 'object') throw nonsense('headers that are texts or lists of texts');
      const text = String(one);
      if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) {
        throw nonsense('headers without characters that no header may hold');
      }
      if (lower === 'content-type' && valueOf(lines, lower) !== undefined) {
        throw nonsense('one content type');
      }
      lines.push(name, text.trim());
      bytes += name.length + text.length;
    }
  }
  if (lines.length > 2 * returnedHeadersMax || bytes > returnedHeaderBytesMax) {
    throw nonsense(`at most ${returnedHeadersMax} headers of ${returnedHeaderBytesMax} bytes`);
  }
  return lines;
}

/** Sends an object as a form if its headers say so, or else as JSON. A text goes out as it is. */
function bytesOf(body: unknown, headers: string[], nonsense: Nonsense): Buffer | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string') return Buffer.from(body, 'utf8');
  if (typeof body !== 'object') throw nonsense('a body that is an object, a text or nothing');
  const type = valueOf(headers, 'content-type');
  if (type === undefined) headers.push('content-type', 'application/json');
  const isForm = withoutParameters(type ?? '') === 'application/x-www-form-urlencoded';
  return Buffer.from(isForm ? formOf(body, nonsense) : JSON.stringify(body), 'utf8');
}

function formOf(body: object, nonsense: Nonsense): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one === undefined || one === null) continue;
      if (typeof one === 'object') throw nonsense('a form without objects in it');
      form.append(name, String(one));
    }
  }
  return form.toString();
}
