import { isInstant } from '@glovebox/wire';
import { choice } from '../validation/messages';
import { isUuid } from '../validation/uuid';
import { givenValues } from './listing';

type Errors = Record<string, string[]>;

/**
 * Reads the filters of a list, most of them given once at most. An empty one is no filter. What is wrong with
 * one goes to `errors`.
 */
export class QueryFilters {
  constructor(
    private readonly query: URLSearchParams,
    private readonly errors: Errors,
  ) {}

  text(name: string, charactersMax: number): string | undefined {
    return this.#once(name, (text) =>
      text.length > charactersMax || text.includes('\0')
        ? `must be at most ${charactersMax} characters, without NUL`
        : undefined,
    );
  }

  uuid(name: string): string | undefined {
    return this.#once(name, (text) => (isUuid(text) ? undefined : 'must be a UUID'))?.toLowerCase();
  }

  instant(name: string): Date | undefined {
    const text = this.#once(name, (value) =>
      isInstant(value) ? undefined : 'must be an ISO 8601 time with an offset or Z',
    );
    return text === undefined ? undefined : new Date(text);
  }

  /** An HTTP status. */
  status(name: string): number | undefined {
    const text = this.#once(name, (value) =>
      /^[1-5]\d\d$/.test(value) ? undefined : 'must be a number from 100 to 599',
    );
    return text === undefined ? undefined : Number(text);
  }

  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const known: readonly string[] = values;
    const text = this.#once(name, (value) =>
      known.includes(value) ? undefined : `must be ${choice(values)}`,
    );
    return values.find((value) => value === text);
  }

  /** Values of which an entry may have any. None: it may have every other as well. */
  someOf<Value extends string>(name: string, values: readonly Value[]): Value[] {
    const given = new Set(givenValues(this.query, name));
    const some = values.filter((value) => given.delete(value));
    if (given.size > 0) this.errors[name] = [`must be ${choice(values)}`];
    return some;
  }

  #once(name: string, faultOf: (text: string) => string | undefined): string | undefined {
    const [text, ...others] = givenValues(this.query, name);
    if (text === undefined) return undefined;
    const fault = others.length > 0 ? 'must be given once' : faultOf(text);
    if (fault === undefined) return text;
    this.errors[name] = [fault];
    return undefined;
  }
}
