import type { CodePlace } from '@glovebox/sandbox';

/** A place in a file of the author, or in the code itself where there is no map. */
export interface SourcePlace extends CodePlace {
  /** The file. Absent: it is the code that ran. */
  readonly source?: string;
}

export interface SourceMap {
  readonly version: 3;
  readonly sources: readonly unknown[];
  readonly mappings: string;
}

/** Milliseconds that a map may take from this thread. */
const budgetMs = 50;
const stepsPerLook = 4_096;
const sourceMax = 400;
/** Sources of a map. */
export const sourcesMax = 10_000;
/** Members of the object … */
const membersMax = 32;
/** … and all values in them: what has more takes JSON.parse too long. */
const valuesMax = 100_000;

/** Finds places of code in its sources. A map that cannot be read, or that takes too long, is as none. */
export function sourcePlaces(
  map: string,
  wanted: readonly CodePlace[],
  now: () => number = () => performance.now(),
): (SourcePlace | undefined)[] {
  const until = now() + budgetMs;
  const read = readMap(map);
  try {
    const found = read && walk(read, wanted, () => now() > until);
    return found ?? wanted.map(() => undefined);
  } catch {
    return wanted.map(() => undefined);
  }
}

/** Reads a flat map of version 3, and only what is used of it. Undefined: it is another, or none. */
export function readMap(text: string): SourceMap | undefined {
  if (!isFlat(text)) return undefined;
  try {
    const { version, sources, mappings } = JSON.parse(text) as Partial<SourceMap>;
    const isMap = version === 3 && typeof mappings === 'string' && Array.isArray(sources);
    return isMap && sources.length <= sourcesMax ? { version, sources, mappings } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the JSON can be parsed in a few milliseconds: one object, with lists of plain values at most.
 * 2 MiB of nested lists or of short members would take a second.
 */
function isFlat(text: string): boolean {
  const open: string[] = [];
  let [members, values] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') {
      if (character === (open.length === 0 ? '[' : '{') || open.push(character) > 2) return false;
    } else if (character === '}' || character === ']') open.pop();
    else if (character === ':') members += 1;
    else if (character === ',') values += 1;
    if (members > membersMax || values > valuesMax) return false;
  }
  return members > 0;
}

function endOfString(text: string, begin: number): number {
  let at = begin + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** The last segment that begins at the place or before it, in its line. */
interface Nearest {
  readonly at: CodePlace;
  readonly column: number;
  readonly source: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

/** One walk for all places: each number of a map is the distance from the one before. */
function walk(
  { mappings, sources }: SourceMap,
  wanted: readonly CodePlace[],
  isLate: () => boolean,
): (SourcePlace | undefined)[] | undefined {
  const byLine = new Map<number, CodePlace[]>();
  for (const place of wanted) byLine.set(place.line, [...(byLine.get(place.line) ?? []), place]);
  const lastLine = Math.max(0, ...byLine.keys());
  const nearest = new Map<CodePlace, Nearest | undefined>();
  const reader = new SegmentReader(mappings);
  let [source, sourceLine, sourceColumn] = [0, 0, 0];
  let steps = 0;
  const isTooLate = (more: number): boolean => {
    steps += more;
    if (steps < stepsPerLook) return false;
    steps = 0;
    return isLate();
  };
  for (let line = 1; line <= lastLine && !reader.isAtEnd; line += 1) {
    let column = 0;
    const ofLine = byLine.get(line) ?? [];
    while (reader.hasSegment()) {
      const [columns, sourcesOn, lines, sourceColumns] = reader.segment();
      column += columns ?? 0;
      const isMapped = sourceColumns !== undefined;
      source += sourcesOn ?? 0;
      sourceLine += lines ?? 0;
      sourceColumn += sourceColumns ?? 0;
      for (const at of ofLine) {
        if (column >= at.column) continue;
        const one = { at, column, source, sourceLine, sourceColumn };
        nearest.set(at, isMapped ? one : undefined);
      }
      if (isTooLate(1 + ofLine.length)) return undefined;
    }
    reader.endLine();
    if (isTooLate(1)) return undefined;
  }
  if (isLate()) return undefined;
  return wanted.map((place) => shown(sources, nearest.get(place)));
}

function shown(sources: readonly unknown[], found: Nearest | undefined): SourcePlace | undefined {
  const source = found && sources[found.source];
  if (!found || typeof source !== 'string' || source.length > sourceMax) return undefined;
  const { sourceLine, sourceColumn } = found;
  if (sourceLine < 0 || sourceColumn < 0) return undefined;
  return { line: sourceLine + 1, column: sourceColumn + 1, source };
}

const [comma, semicolon] = [','.charCodeAt(0), ';'.charCodeAt(0)];
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digits = new Int8Array(128).fill(-1);
for (const [value, digit] of [...alphabet].entries()) digits[digit.charCodeAt(0)] = value;

/** Reads base 64 numbers of variable length. */
class SegmentReader {
  #at = 0;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  hasSegment(): boolean {
    while (this.text.charCodeAt(this.#at) === comma) this.#at += 1;
    return !this.isAtEnd && this.text.charCodeAt(this.#at) !== semicolon;
  }

  /** Column, source, line, column of the source: one, four or five numbers. */
  segment(): readonly (number | undefined)[] {
    const numbers: number[] = [];
    for (; !this.isAtEnd;) {
      const code = this.text.charCodeAt(this.#at);
      if (code === comma || code === semicolon) break;
      numbers.push(this.#number());
      if (numbers.length > 5) throw new Error('a segment has too many numbers');
    }
    return numbers;
  }

  endLine(): void {
    this.#at += 1;
  }

  #number(): number {
    let value = 0;
    for (let shift = 0; shift <= 30; shift += 5) {
      const digit = digits[this.text.charCodeAt(this.#at)] ?? -1;
      if (digit === -1) throw new Error('a digit is unknown');
      this.#at += 1;
      value += (digit & 31) << shift;
      if ((digit & 32) === 0) return value & 1 ? -(value >> 1) : value >> 1;
    }
    throw new Error('a number is too long');
  }
}
