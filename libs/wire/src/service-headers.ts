import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '@glovebox/problems';
import {
  HeaderKinds,
  headerKinds,
  serviceHeaderNames,
  serviceHeaderOf,
  type ServiceHeaderName,
} from './header-kinds';
import { parseTraceparent } from './traceparent';

/** The header of the answer always has our own prefix. */
export const traceHeader = 'SVC-TRACE-ID';

/** The service headers of a request, which are found for once. */
interface FoundServiceHeaders {
  /** In the order of `serviceHeaderNames`. */
  readonly values: (string | undefined)[];
  /** The spelling of each header that is given more than once; undefined when none is. */
  repeated: Map<number, string> | undefined;
  traceparent: string | undefined;
}

const serviceHeaders = Symbol('service headers');

/** Reads service headers under every prefix that the operator lists. */
export class ServiceHeaders {
  readonly kinds: HeaderKinds;
  readonly #prefixes: readonly string[];

  constructor(prefixes: readonly string[]) {
    // Our own prefix always counts: with an alias alone, our keys would be passed to the
    // destination.
    const all = new Set(['svc', ...prefixes.map((prefix) => prefix.toLowerCase())]);
    this.#prefixes = [...all].map((prefix) => `${prefix}-`);
    this.kinds = new HeaderKinds(this.#prefixes);
  }

  /** The lower-cased names of a service header, one for each prefix. */
  spellingsOf(name: ServiceHeaderName): readonly string[] {
    return this.#prefixes.map((prefix) => prefix + name);
  }

  /** A header of our answers under each prefix: SVC-NAME first, then its aliases. */
  answerSpellingsOf(name: string): readonly string[] {
    return this.#prefixes.map((prefix) => `${prefix}${name}`.toUpperCase());
  }

  /** Whether the caller wants members of the body that are not known refused. */
  isStrict(req: IncomingMessage): boolean {
    const strict = this.read(req, 'strict') ?? 'false';
    if (strict === 'true' || strict === 'false') return strict === 'true';
    throw new Problem('invalid_request', {
      detail: 'The header SVC-STRICT must be true or false.',
    });
  }

  /** Whether a lower-cased header is ours. No destination sees it then. */
  isOurs(lowerName: string): boolean {
    return (this.kinds.kindsOf(lowerName) & headerKinds.ours) !== 0;
  }

  /** The value of a service header, or undefined. Throws when it is given more than once. */
  read(req: IncomingMessage, name: ServiceHeaderName): string | undefined {
    const { values, repeated } = this.#foundIn(req);
    const at = serviceHeaderNames.indexOf(name);
    const spelling = repeated?.get(at);
    if (spelling === undefined) return values[at];
    throw new Problem('invalid_request', {
      detail: `The header ${spelling.toUpperCase()} is given more than once.`,
    });
  }

  /** The caller's trace id if it is fit for logs and headers, else a new one. */
  traceIdOf(req: IncomingMessage): string {
    const { values, repeated, traceparent } = this.#foundIn(req);
    const given = values[traceIdAt];
    const isGiven = given !== undefined && !repeated?.has(traceIdAt);
    if (isGiven && /^[\w.:-]{1,64}$/.test(given)) return given;
    return parseTraceparent(traceparent)?.traceId ?? randomUUID();
  }

  /** All traceparent lines, joined. */
  traceparentOf(req: IncomingMessage): string | undefined {
    return this.#foundIn(req).traceparent;
  }

  #foundIn(req: IncomingMessage & { [serviceHeaders]?: FoundServiceHeaders }): FoundServiceHeaders {
    return (req[serviceHeaders] ??= this.#look(req.rawHeaders));
  }

  /** Hot path. */
  #look(raw: readonly string[]): FoundServiceHeaders {
    const values = [undefined, undefined, undefined, undefined, undefined, undefined];
    const found: FoundServiceHeaders = { values, repeated: undefined, traceparent: undefined };
    for (let at = 0; at + 1 < raw.length; at += 2) {
      const name = raw[at] ?? '';
      const kind = this.kinds.kindsOf(name);
      if (kind === 0) continue;
      const value = raw[at + 1] ?? '';
      const service = serviceHeaderOf(kind);
      if (service >= 0) {
        if (found.values[service] === undefined) found.values[service] = value;
        else (found.repeated ??= new Map()).set(service, name);
      } else if (kind & headerKinds.traceparent) {
        found.traceparent =
          found.traceparent === undefined ? value : `${found.traceparent},${value}`;
      }
    }
    return found;
  }
}

const traceIdAt = serviceHeaderNames.indexOf('trace-id');
