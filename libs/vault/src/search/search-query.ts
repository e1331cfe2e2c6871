import { normalTokenId } from '@glovebox/expressions';
import { invalid } from '@glovebox/problems';

/** A condition that tokens have to meet to be found. */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | {
      readonly kind: 'equals';
      readonly column: 'id' | 'type' | 'fingerprint';
      readonly values: readonly string[];
    }
  | { readonly kind: 'container'; readonly value: string; readonly isPrefix: boolean }
  | { readonly kind: 'data'; readonly value: string }
  | { readonly kind: 'metadata'; readonly name: string; readonly value: string };

const queryCharactersMax = 4_096;
const queryDepthMax = 20;
/** Each term is checked for every token that the others leave. */
const searchTermsMax = 20;

interface Word {
  readonly kind: 'AND' | 'OR' | 'NOT' | '(' | ')' | 'text' | ':' | 'end';
  /** The position of its first character, from 1. */
  readonly at: number;
  readonly value: string;
  readonly isQuoted: boolean;
}

/**
 * Parses terms `field:value` joined by AND, OR, NOT and parentheses. NOT binds closest, AND closer
 * than OR; terms side by side are joined by AND. Errors name a position and no text: the query
 * holds data.
 */
export function parseSearchQuery(text: string): Condition {
  if (text.length > queryCharactersMax) {
    throw invalid({ query: [`must be at most ${queryCharactersMax} characters`] });
  }
  if (text.includes('\0')) throw invalid({ query: ['must not contain NUL'] });
  return new Parser(wordsOf(text)).parse();
}

class Parser {
  #at = 0;
  #terms = 0;

  constructor(private readonly words: readonly Word[]) {}

  parse(): Condition {
    const condition = this.#alternatives(0);
    if (this.#next.kind !== 'end') throw wrongAt(this.#next);
    return condition;
  }

  get #next(): Word {
    return this.words[this.#at] ?? end(0);
  }

  #take(kind: Word['kind']): Word {
    const word = this.#next;
    if (word.kind !== kind) throw wrongAt(word);
    this.#at += 1;
    return word;
  }

  #skips(kind: Word['kind']): boolean {
    if (this.#next.kind !== kind) return false;
    this.#at += 1;
    return true;
  }

  #alternatives(depth: number): Condition {
    const of = [this.#conjunction(depth)];
    while (this.#skips('OR')) of.push(this.#conjunction(depth));
    return of.length === 1 && of[0] ? of[0] : { kind: 'any', of };
  }

  #conjunction(depth: number): Condition {
    const of = [this.#factor(depth)];
    while (this.#skips('AND') || ['NOT', '(', 'text'].includes(this.#next.kind)) {
      of.push(this.#factor(depth));
    }
    return of.length === 1 && of[0] ? of[0] : { kind: 'all', of };
  }

  #factor(depth: number): Condition {
    if (depth > queryDepthMax)
      throw invalid({ query: [`may be nested at most ${queryDepthMax} levels`] });
    if (this.#skips('NOT')) return { kind: 'not', of: this.#factor(depth + 1) };
    if (this.#skips('(')) {
      const inner = this.#alternatives(depth + 1);
      this.#take(')');
      return inner;
    }
    return this.#term();
  }

  #term(): Condition {
    const field = this.#take('text');
    this.#take(':');
    const value = this.#take('text');
    this.#terms += 1;
    if (this.#terms > searchTermsMax)
      throw invalid({ query: [`may have at most ${searchTermsMax} terms`] });
    return termOf(field, value);
  }
}

function termOf(field: Word, { value, isQuoted }: Word): Condition {
  const name = field.value;
  if (name.startsWith('metadata.') && name.length > 'metadata.'.length) {
    return { kind: 'metadata', name: name.slice('metadata.'.length), value };
  }
  switch (name) {
    case 'data':
      return { kind: 'data', value };
    case 'container': {
      const isPrefix = !isQuoted && value.endsWith('*');
      const path = (isPrefix ? value.slice(0, -1) : value).toLowerCase();
      return { kind: 'container', value: path, isPrefix };
    }
    case 'id':
      return { kind: 'equals', column: 'id', values: [normalTokenId(value)] };
    case 'type':
    case 'fingerprint':
      return { kind: 'equals', column: name, values: [value] };
    default:
      throw invalid({
        query: [
          `has an unknown field at character ${field.at}; the fields are data, id, type, container, ` +
            'fingerprint and metadata.NAME',
        ],
      });
  }
}

const end = (at: number): Word => ({ kind: 'end', at, value: '', isQuoted: false });

/**
 * Quoted text, a sign, or a word between them. In quotes, `\` takes the next character as it is.
 */
const wordShape = /\s*(?:"((?:[^"\\]|\\.)*)"|([():])|([^\s"():]+))/suy;
const operators = new Set(['AND', 'OR', 'NOT']);

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  const trimmed = text.trimEnd();
  wordShape.lastIndex = 0;
  while (wordShape.lastIndex < trimmed.length) {
    const from = wordShape.lastIndex;
    const match = wordShape.exec(trimmed);
    if (!match) throw wrongAt(end(from + 1));
    const [all, quoted, sign, plain = ''] = match;
    const at = from + all.length - all.trimStart().length + 1;
    if (quoted !== undefined) {
      const value = quoted.replace(/\\(.)/gsu, '$1');
      words.push({ kind: 'text', at, value, isQuoted: true });
    } else {
      const kind = (sign ?? (operators.has(plain) ? plain : 'text')) as Word['kind'];
      words.push({ kind, at, value: plain, isQuoted: false });
    }
  }
  words.push(end(trimmed.length + 1));
  return words;
}

function wrongAt({ at }: Pick<Word, 'at'>): Error {
  return invalid({ query: [`is malformed at character ${at}`] });
}
