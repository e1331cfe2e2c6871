import { inSlices, type Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { redacted } from '@glovebox/reactors';
import type { Room } from '../../call/call-shares';
import { formsOf } from './forms';
import { searchFor, type Search, type SearchedText } from './search';

/** Shorter texts and numbers stand in any answer by chance. */
const textBytesMin = 4;
const numberLengthMin = 6;
/** Texts of one call that are looked for, and their bytes. */
const textsMax = 300;
const textBytesMax = 64 * 1024;
/** Characters of an expression that is shown. Longer ones would make much of an answer. */
const shownMax = 100;

/** The values that one call has put in. They never come back in its answer (docs/adr/0151). */
export class PutIn {
  readonly #replacements = new Map<string, string>();
  #bytesLeft = textBytesMax;
  #search: Promise<Search> | undefined;
  #searchBytes = 0;

  /** Memory of the search, which lasts as long as the call. */
  get searchBytes(): number {
    return this.#searchBytes;
  }

  /** Call it when all is noted. Undefined: there is nothing to look for. */
  async searchIn(room: Pick<Room, 'keep' | 'takeTurn'>): Promise<Search | undefined> {
    if (this.#replacements.size === 0) return undefined;
    return (this.#search ??= inSlices(this.#made(room.keep), room.takeTurn));
  }

  *#made(keep: Room['keep']): Work<Search> {
    const texts: SearchedText[] = [];
    for (const [text, replacement] of this.#replacements) {
      const bytes = Buffer.from(replacement);
      for (const form of yield* formsOf(text)) {
        keep(form.length);
        this.#searchBytes += form.length;
        texts.push([form, bytes]);
      }
    }
    return yield* searchFor(texts);
  }

  /** Notes a value with the text of its expression. Throws for more than can be looked for. */
  add(source: string, value: unknown): void {
    const replacement = shown(source);
    for (const text of textsIn(value)) this.#note(text, replacement);
    this.#search = undefined;
  }

  /** Notes what code has opened. Undefined: more than was remembered. */
  addOpened(values: readonly unknown[] | undefined): void {
    if (!values) throw tooMuch();
    for (const value of values) for (const text of textsIn(value)) this.#note(text, redacted);
    this.#search = undefined;
  }

  #note(text: string, replacement: string): void {
    if (this.#replacements.has(text)) return;
    this.#bytesLeft -= Buffer.byteLength(text);
    if (this.#bytesLeft < 0 || this.#replacements.size === textsMax) throw tooMuch();
    this.#replacements.set(text, replacement);
  }
}

function tooMuch(): Problem {
  return new Problem('payload_too_large', {
    detail: `A proxy with \`scrub\` puts in at most ${textsMax} texts and ${textBytesMax} bytes.`,
  });
}

/** The texts of a value that are long enough. A destination may send them back one by one. */
function* textsIn(value: unknown): Generator<string> {
  const open = [value];
  while (open.length > 0) {
    const part = open.pop();
    if (typeof part === 'string') {
      const text = part.toWellFormed();
      // Receivers trim what they send back. Each form of the whole text holds one of the trimmed text.
      const found = [text.trim(), text].find((one) => Buffer.byteLength(one) >= textBytesMin);
      if (found !== undefined) yield found;
    } else if (typeof part === 'number') {
      const text = String(part);
      if (text.length >= numberLengthMin) yield text;
    } else if (typeof part === 'object' && part !== null) {
      for (const member of Object.values(part)) open.push(member);
    }
  }
}

/** An expression as it can stand in any answer: in a string of JSON and in a header too. */
function shown(source: string): string {
  const text = source.trim();
  const quoted = /['\\]/.test(text) ? text : text.replaceAll('"', "'");
  const isPlain = quoted.length <= shownMax && /^[ !#-[\]-~]*$/.test(quoted);
  return isPlain ? `{{ ${quoted} }}` : redacted;
}
