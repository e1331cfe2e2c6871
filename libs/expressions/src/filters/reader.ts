/** Reads a short text from left to right, one sticky pattern after the other. */
export class Reader {
  #at = 0;

  constructor(private readonly text: string) {}

  /** The text that was read. */
  get before(): string {
    return this.text.slice(0, this.#at);
  }

  get isAtEnd(): boolean {
    return this.#at === this.text.length;
  }

  take(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.text);
    if (match) this.#at = sticky.lastIndex;
    return match;
  }
}

/** A text in single or double quotes. A backslash escapes quotes and itself. */
export const quoted = /'((?:[^'\\]|\\['"\\])*)'|"((?:[^"\\]|\\['"\\])*)"/y;

export function unquote(match: RegExpExecArray): string {
  return (match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1');
}
