import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '@glovebox/problems';
import { parseTraceparent } from './traceparent';

export type ServiceHeaderName =
  'api-key' | 'proxy-key' | 'proxy-url' | 'trace-id' | 'idempotency-key';

/** The answer's header of the same name is always spelled with our own prefix. */
export const traceHeader = 'SVC-TRACE-ID';

/** The headers that speak to us, under every prefix that the operator lists. */
export class ServiceHeaders {
  readonly #prefixes: readonly string[];
  readonly #spellings: Readonly<Record<ServiceHeaderName, readonly string[]>>;

  constructor(prefixes: readonly string[]) {
    // Our own always counts: under an alias alone, a key of ours would be taken for the destination's.
    const all = new Set(['svc', ...prefixes.map((prefix) => prefix.toLowerCase())]);
    this.#prefixes = [...all].map((prefix) => `${prefix}-`);
    const spell = (name: string): string[] => this.#prefixes.map((prefix) => prefix + name);
    this.#spellings = {
      'api-key': spell('api-key'),
      'proxy-key': spell('proxy-key'),
      'proxy-url': spell('proxy-url'),
      'trace-id': spell('trace-id'),
      'idempotency-key': spell('idempotency-key'),
    };
  }

  /** The names under which a value may be given, lower-cased. */
  spellingsOf(name: ServiceHeaderName): readonly string[] {
    return this.#spellings[name];
  }

  /** Is this lower-cased header ours? Then no destination sees it. */
  isOurs(lowerName: string): boolean {
    return this.#prefixes.some((prefix) => lowerName.startsWith(prefix));
  }

  /** The one value of a service header, or undefined. Said twice, it is refused. */
  read(req: IncomingMessage, name: ServiceHeaderName): string | undefined {
    let value: string | undefined;
    for (const spelling of this.#spellings[name]) {
      const values = req.headersDistinct[spelling];
      if (!values) continue;
      if (values.length > 1 || value !== undefined) {
        throw new Problem('invalid_request', {
          detail: `The header ${spelling.toUpperCase()} is given more than once.`,
        });
      }
      value = values[0];
    }
    return value;
  }

  /** The caller's trace id, where it gave one that is fit for logs and headers; else a new one. */
  traceIdOf(req: IncomingMessage): string {
    const given = this.#spellings['trace-id'].flatMap((name) => req.headersDistinct[name] ?? []);
    const [only] = given;
    if (only !== undefined && given.length === 1 && /^[\w.:-]{1,64}$/.test(only)) return only;
    return parseTraceparent(req.headersDistinct.traceparent?.join())?.traceId ?? randomUUID();
  }
}
