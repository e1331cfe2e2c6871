/** A value in a document that is not JSON, such as a number with more digits than a double has. */
export abstract class Opaque {
  /** The value that filters see. Throws a Problem if they may not see any. */
  abstract plain(): unknown;

  /** JSON.stringify must not bypass `plain`. */
  toJSON(): unknown {
    return this.plain();
  }
}

export function plainOf(value: unknown): unknown {
  return value instanceof Opaque ? value.plain() : value;
}
