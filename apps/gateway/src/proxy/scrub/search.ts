import type { Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';

export type SearchedText = readonly [text: Buffer, replacement: Buffer];

/** A text to look for, and what is written in its place. */
interface Wanted {
  readonly bytes: Buffer;
  readonly replacement: Buffer;
  /** The part before this one, where both are parts of a longer text. */
  readonly after: Wanted | undefined;
}

/** A text in the order of all. */
interface Entry {
  readonly wanted: Wanted;
  readonly bytes: Buffer;
  /** The longest other text that this one begins with. */
  readonly shorter: Entry | undefined;
}

/** Where a text begins. Without one, a text may begin there when more bytes have come. */
interface Place {
  readonly start: number;
  readonly entry?: Entry;
}

/** Longer texts are looked for in parts, so that little is held back of an answer. */
const partBytes = 1_024;
/**
 * A rest that is shorter stays with the part before it. With little of a value, a part would tell
 * callers what they have guessed of it (docs/adr/0154).
 */
const restBytesMin = 512;
/** Bytes of each text that are looked at together. */
const windowBytes = 64;
/** Places where a text begins as another goes on: many for each byte would cost more than the answer. */
const missesFree = 10_000;
const bytesOfMiss = 8;

const blocks = 4_096;
const blockAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) ^ ((bytes[at + 1] ?? 0) << 4)) & (blocks - 1);

/**
 * Looks for many texts in one pass. Its window moves by as many bytes as no text can begin at (Wu and
 * Manber, with blocks of two bytes), and texts are compared only where one may begin. Hot path: it
 * looks at a few of a hundred bytes.
 */
export class Search {
  /** Sorted by their bytes. */
  readonly #entries: readonly Entry[];
  readonly #longest: number;
  readonly #window: number;
  /** By block: how far the window may move when it ends in it. */
  readonly #moves: Uint8Array;
  /** By block: a text begins with it. */
  readonly #begins = new Uint8Array(blocks);
  #missesLeft = missesFree;

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    const lengths = entries.map(({ bytes }) => bytes.length);
    this.#longest = lengths.reduce((a, b) => Math.max(a, b), 0);
    this.#window = lengths.reduce((a, b) => Math.min(a, b), windowBytes);
    this.#moves = new Uint8Array(blocks).fill(this.#window - 1);
  }

  /** Call it once, before the first search. */
  *learn(): Work<void> {
    for (const { bytes } of this.#entries) {
      this.#learnOne(bytes);
      yield;
    }
  }

  #learnOne(bytes: Buffer): void {
    this.#begins[blockAt(bytes, 0)] = 1;
    const last = this.#window - 2;
    for (let at = 0; at <= last; at += 1) {
      const block = blockAt(bytes, at);
      this.#moves[block] = Math.min(this.#moves[block] ?? 0, last - at);
    }
  }

  /** The first place from here on. Its start is the length of the bytes where there is none. */
  next(bytes: Buffer, from: number, isLast: boolean): Place {
    const { length } = bytes;
    const toBlock = this.#window - 2;
    let at = blockFrom(bytes, from + toBlock, this.#moves, toBlock + 1);
    while (at + 1 < length) {
      const place = this.#placeAt(bytes, at - toBlock, isLast);
      if (place) return place;
      at = blockFrom(bytes, at + 1, this.#moves, toBlock + 1);
    }
    if (!isLast) {
      for (let start = Math.max(from, at - toBlock); start < length; start += 1) {
        if (this.#mayBegin(bytes, start) && this.#goesOn(bytes, start)) return { start };
      }
    }
    return { start: length };
  }

  #placeAt(bytes: Buffer, start: number, isLast: boolean): Place | undefined {
    if (this.#begins[blockAt(bytes, start)] === 0) return undefined;
    if (!isLast && this.#goesOn(bytes, start)) return { start };
    const rest = bytes.subarray(start, start + this.#longest);
    const entry = longestAtStart(this.#entries[this.#firstAbove(rest) - 1], rest);
    if (entry) return { start, entry };
    this.#missesLeft -= 1;
    return undefined;
  }

  #mayBegin(bytes: Buffer, start: number): boolean {
    if (start + 1 < bytes.length) return this.#begins[blockAt(bytes, start)] === 1;
    return true;
  }

  /** True if a text begins with all the bytes from here on, and is longer. */
  #goesOn(bytes: Buffer, start: number): boolean {
    const { length } = bytes;
    if (length - start >= this.#longest) return false;
    const rest = bytes.subarray(start);
    const above = this.#entries[this.#firstAbove(rest)]?.bytes;
    return above !== undefined && above.length > rest.length && beginsWith(above, rest);
  }

  /** The place of the first text that comes after these bytes in the order. */
  #firstAbove(bytes: Buffer): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.bytes.compare(bytes) ?? 1) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Ends the search of an answer that was made to be slow to search. */
  paid(bytes: number): void {
    this.#missesLeft = Math.min(missesFree, this.#missesLeft + Math.ceil(bytes / bytesOfMiss));
    if (this.#missesLeft >= 0) return;
    throw new Problem('invalid_request', {
      detail: 'It holds beginnings of values too often to be searched.',
    });
  }
}

/** Of equal texts the first counts. None is shorter than four bytes. */
export function* searchFor(texts: readonly SearchedText[]): Work<Search> {
  const search = new Search(yield* inOrder([...partsOf(texts)]));
  yield* search.learn();
  return search;
}

/**
 * The next block that the window need not move on from. Hot path: four places are looked up together,
 * since none of them waits for the move of the one before.
 */
function blockFrom(bytes: Uint8Array, from: number, moves: Uint8Array, furthest: number): number {
  const last = bytes.length - 2;
  const lastOfFour = last - 3 * furthest;
  let at = from;
  for (;;) {
    while (
      at <= lastOfFour &&
      (moves[blockAt(bytes, at)] ?? 0) +
        (moves[blockAt(bytes, at + furthest)] ?? 0) +
        (moves[blockAt(bytes, at + 2 * furthest)] ?? 0) +
        (moves[blockAt(bytes, at + 3 * furthest)] ?? 0) ===
        4 * furthest
    ) {
      at += 4 * furthest;
    }
    if (at > last) return at;
    const move = moves[blockAt(bytes, at)] ?? 0;
    if (move === 0) return at;
    at += move;
  }
}

/**
 * Replaces texts in bytes that come in chunks. It holds back what may be the beginning of a text, and
 * nothing else.
 */
export class Scrubber {
  #held: Buffer | undefined;
  /** The text that was replaced last, where nothing has followed it. */
  #before: Wanted | undefined;

  constructor(private readonly search: Search) {}

  /** The bytes to pass on. Call it once with `isLast`. */
  write(chunk: Buffer, isLast: boolean): Buffer {
    const bytes = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = undefined;
    const parts: Buffer[] = [];
    for (let from = 0; ;) {
      const { start, entry } = this.search.next(bytes, from, isLast);
      if (start > from) {
        parts.push(bytes.subarray(from, start));
        this.#before = undefined;
      }
      if (!entry) {
        if (start < bytes.length) this.#held = Buffer.from(bytes.subarray(start));
        break;
      }
      const { after, replacement } = entry.wanted;
      if (!after || after !== this.#before) parts.push(replacement);
      this.#before = entry.wanted;
      from = start + entry.bytes.length;
    }
    this.search.paid(chunk.length);
    const [only] = parts;
    return only && parts.length === 1 ? only : Buffer.concat(parts);
  }
}

function longestAtStart(entry: Entry | undefined, bytes: Buffer): Entry | undefined {
  if (!entry) return undefined;
  const { length } = entry.bytes;
  let common = 0;
  while (common < length && entry.bytes[common] === bytes[common]) common += 1;
  let found: Entry | undefined = entry;
  while (found && found.bytes.length > common) found = found.shorter;
  return found;
}

const beginsWith = (bytes: Buffer, beginning: Buffer): boolean =>
  bytes.length >= beginning.length &&
  bytes.compare(beginning, 0, beginning.length, 0, beginning.length) === 0;

function* partsOf(texts: readonly SearchedText[]): Generator<Wanted> {
  for (const [text, replacement] of texts) {
    let after: Wanted | undefined;
    for (let at = 0; at < text.length;) {
      const isEnd = text.length - at < partBytes + restBytesMin;
      const bytes = text.subarray(at, isEnd ? text.length : at + partBytes);
      yield (after = { bytes, replacement, after });
      at += bytes.length;
    }
  }
}

function* inOrder(texts: readonly Wanted[]): Work<Entry[]> {
  const entries: Entry[] = [];
  const above: Entry[] = [];
  for (const wanted of yield* sorted(texts)) {
    const { bytes } = wanted;
    if (entries.at(-1)?.bytes.equals(bytes)) continue;
    let shorter = above.pop();
    while (shorter && !beginsWith(bytes, shorter.bytes)) shorter = above.pop();
    const entry = { wanted, bytes, shorter };
    if (shorter) above.push(shorter);
    above.push(entry);
    entries.push(entry);
    yield;
  }
  return entries;
}

/** Texts that are sorted without a pause. */
const sortedAtOnce = 64;

/** Equal texts stay in their order. */
function* sorted(texts: readonly Wanted[]): Work<Wanted[]> {
  if (texts.length <= sortedAtOnce) return texts.toSorted((a, b) => a.bytes.compare(b.bytes));
  const middle = texts.length >> 1;
  const [left, right] = [yield* sorted(texts.slice(0, middle)), yield* sorted(texts.slice(middle))];
  const merged: Wanted[] = [];
  let taken = 0;
  for (const wanted of left) {
    for (let next = right[taken]; next && next.bytes.compare(wanted.bytes) < 0;) {
      merged.push(next);
      next = right[(taken += 1)];
    }
    merged.push(wanted);
    yield;
  }
  return merged.concat(right.slice(taken));
}
