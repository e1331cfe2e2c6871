import { isUtf8 } from 'node:buffer';
import { plainSyntax, type Syntax } from './span-scanner';
import { Finder } from './template-pieces';

/** Percent-encoded text: braces may be written as they are or as %7B and %7D. */
export const pathSyntax: Syntax = {
  ...plainSyntax,
  opens: (text) => marks(text, /(?:\{|%7b){2}/gi),
  closes: (text) => marks(text, /(?:\}|%7d){2}/gi),
  tailLength: '%7B%7'.length + '%4'.length,
  decode: percentDecoded,
  danglingEnd: /%[0-9a-f]?$/i,
};

/** Fields of a form or a query. An expression stands within one of them. */
export const formSyntax: Syntax = {
  ...pathSyntax,
  boundary: '&',
  decode: (inner) => percentDecoded(inner.replaceAll('+', ' ')),
};

/** For text with one character per byte. */
export function overBytes(syntax: Syntax): Syntax {
  return {
    ...syntax,
    decode(inner) {
      const bytes = Buffer.from(inner, 'latin1');
      return isUtf8(bytes) ? syntax.decode(bytes.toString('utf8')) : undefined;
    },
  };
}

function marks(text: string, pattern: RegExp): Finder {
  return new Finder((from) => {
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    return match && { start: match.index, end: pattern.lastIndex };
  });
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
