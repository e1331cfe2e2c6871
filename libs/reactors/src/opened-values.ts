import { isTokenRequest } from '@glovebox/vault';

/** Characters of opened data, as JSON, that are remembered of one run. */
const openedTextMax = 4 * 1024 * 1024;

/**
 * The data that a run opened or stored, which no text of its code may show. Above `openedTextMax`
 * characters nothing is known any more.
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
    if (method === 'svc.tokenize') {
      // A token that was there before has data of its own.
      for (const part of partsOf(answer)) if (isToken(part)) this.#keep(part.data);
      return;
    }
    const data = dataOf(answer);
    if (method !== 'svc.tokens.list') return this.#keep(data);
    for (const token of Array.isArray(data) ? (data as unknown[]) : []) this.#keep(dataOf(token));
  }

  /** Remembers the data that a call stores. Should the call fail, it is no less confidential. */
  addStored(method: string, first: unknown, second: unknown): void {
    if (method === 'svc.tokens.create') this.#keep(dataOf(first));
    else if (method === 'svc.tokens.update') this.#keep(dataOf(second));
    else if (method === 'svc.tokenize') this.addDocument(first);
  }

  /** Remembers what becomes data when this document is tokenized. */
  addDocument(document: unknown): void {
    for (const part of partsOf(document)) this.#keep(isToken(part) ? part.data : part);
  }

  #keep(value: unknown): void {
    if (value === undefined) return;
    this.#charactersLeft -= charactersOf(value);
    if (this.#charactersLeft < 0) this.#values = undefined;
    this.#values?.push(value);
  }
}

const isToken = (value: unknown): value is { readonly data: unknown } =>
  typeof value === 'object' && value !== null && isTokenRequest(value);

/** The tokens and the plain values anywhere in a document. */
function* partsOf(document: unknown): Generator {
  const open = [document];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || isToken(next)) yield next;
    else for (const member of Object.values(next) as unknown[]) open.push(member);
  }
}

function charactersOf(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    // Code may pass what is nested too deeply to be written.
    return Infinity;
  }
}

function dataOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'data' in value ? value.data : undefined;
}
