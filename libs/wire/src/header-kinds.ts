import { hopByHopHeaders } from './reserved-headers';

export const serviceHeaderNames = [
  'api-key',
  'proxy-key',
  'proxy-url',
  'trace-id',
  'idempotency-key',
  'strict',
] as const;

export type ServiceHeaderName = (typeof serviceHeaderNames)[number];

/**
 * The meanings of a header's name, as bits. The bits above them hold the number of the service
 * header, counted from 1.
 */
export const headerKinds = {
  ours: 1,
  hopByHop: 2,
  /** We set it ourselves for the next server: the framing, and the addresses of earlier callers. */
  neverPassedOn: 4,
  host: 8,
  contentLength: 16,
  transferEncoding: 32,
  connection: 64,
  traceparent: 128,
} as const;

const serviceShift = 8;
const knownNamesMax = 2_000;
const knownNameLength = 64;

const single: Readonly<Record<string, number>> = {
  host: headerKinds.host,
  expect: headerKinds.neverPassedOn,
  forwarded: headerKinds.neverPassedOn,
  'content-length': headerKinds.contentLength | headerKinds.neverPassedOn,
  'transfer-encoding': headerKinds.transferEncoding,
  connection: headerKinds.connection,
  traceparent: headerKinds.traceparent,
};

/**
 * Remembers the kind of a name by its exact spelling: lower-casing each name and comparing it with
 * all that matter would cost more than everything else that is done to a header. A caller with ever
 * new names fills the table once; its further names are judged each time.
 */
export class HeaderKinds {
  readonly #known = new Map<string, number>();

  constructor(private readonly prefixes: readonly string[]) {}

  kindsOf(name: string): number {
    return this.#known.get(name) ?? this.#learn(name);
  }

  #learn(name: string): number {
    const kind = this.#judge(name.toLowerCase());
    if (this.#known.size < knownNamesMax && name.length <= knownNameLength) {
      this.#known.set(name, kind);
    }
    return kind;
  }

  #judge(lower: string): number {
    let kind = Object.hasOwn(single, lower) ? (single[lower] ?? 0) : 0;
    if (hopByHopHeaders.includes(lower)) kind |= headerKinds.hopByHop | headerKinds.neverPassedOn;
    if (lower.startsWith('x-forwarded-')) kind |= headerKinds.neverPassedOn;
    for (const prefix of this.prefixes) {
      if (!lower.startsWith(prefix)) continue;
      kind |= headerKinds.ours;
      const at = serviceHeaderNames.indexOf(lower.slice(prefix.length) as ServiceHeaderName);
      kind |= (at + 1) << serviceShift;
    }
    return kind;
  }
}

/** The index of the service header in `serviceHeaderNames`, or -1. */
export const serviceHeaderOf = (kind: number): number => (kind >> serviceShift) - 1;
