/** Characters of opened data, as JSON, that are remembered of one run. */
const openedTextMax = 4 * 1024 * 1024;

/**
 * The data that a run opened through `req.svc`, which no text of its code may show. Above
 * `openedTextMax` characters nothing is known any more.
 */
export class OpenedValues {
  #values: unknown[] | undefined = [];
  #charactersLeft = openedTextMax;

  /** Undefined: more was opened than could be remembered. */
  get values(): readonly unknown[] | undefined {
    return this.#values;
  }

  /** Remembers the data of tokens in an answer. Ids and types are no secrets. */
  add(method: string, answer: unknown): void {
    if (method === 'svc.detokenize') return this.#keep(answer);
    const data = dataOf(answer);
    if (method !== 'svc.tokens.list') return this.#keep(data);
    for (const token of Array.isArray(data) ? (data as unknown[]) : []) this.#keep(dataOf(token));
  }

  #keep(value: unknown): void {
    if (value === undefined) return;
    this.#charactersLeft -= JSON.stringify(value).length;
    if (this.#charactersLeft < 0) this.#values = undefined;
    this.#values?.push(value);
  }
}

function dataOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'data' in value ? value.data : undefined;
}
