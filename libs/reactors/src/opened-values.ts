/** Of the data that one run opens through `req.svc`, what no text of its code may show. */
const openedTextMax = 4 * 1024 * 1024;

/** What a run has opened; of more than can be kept, nothing is known any more. */
export class OpenedValues {
  #values: unknown[] | undefined = [];
  #charactersLeft = openedTextMax;

  /** Undefined: too much to tell what a text shows of it. */
  get values(): readonly unknown[] | undefined {
    return this.#values;
  }

  /** Of what a call answers, the data of tokens: ids and types are no secrets. */
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
