import { lowestIdAt } from './time-ordered-id';

/** The part of a log that a list is asked for. The cursor is the id of the last entry seen. */
export interface CursorQuery {
  readonly size: number;
  readonly after: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** Builds a condition of a statement, whose values are parameters. */
export class Conditions {
  readonly values: unknown[];
  readonly #tests: string[] = [];

  /** Another condition of the same statement shares its parameters. */
  constructor(other?: Conditions) {
    this.values = other?.values ?? [];
  }

  /** `test` ends where the value goes. Undefined is no condition. */
  add(test: string, value: unknown): this {
    if (value !== undefined) this.#tests.push(`${test} ${this.parameter(value)}`);
    return this;
  }

  /** Restricts the ids, which begin with their time, to the part that is asked for. */
  addRange({ after, from, to }: Partial<CursorQuery>): this {
    return this.add('id <', after)
      .add('id >=', from && lowestIdAt(from.getTime()))
      .add('id <', to && lowestIdAt(to.getTime() + 1));
  }

  /** A condition whose values are parameters already. */
  addTest(test: string): this {
    this.#tests.push(test);
    return this;
  }

  parameter(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  toString(): string {
    return this.#tests.join(' AND ');
  }
}
