import { isShowableName } from '@glovebox/problems';

/** A value, or a name that somebody else chose. */
export interface Leaf {
  readonly kind: 'string' | 'number' | 'boolean' | 'text' | 'name';
  readonly text: string;
  /** It belongs to a name of keys and passwords. */
  readonly isSecret?: boolean;
  /** Stands in the quotes of JSON. */
  readonly isQuoted?: boolean;
}

/** What stands between values, or one of them. */
export type Piece = string | Leaf;

const keyNames =
  'authori[sz]ation|passw|passphrase|secret|credential|signature|cookie|(?:api|access|private|signing)[-_ ]?key|(?:access|refresh|id|auth|session|csrf|xsrf)[-_ ]?token';
/** Of members of bodies. Nothing is told of their values. */
const secretMember = new RegExp(`^keys?$|${keyNames}`, 'i');
/** Such a name within a text, with what stands before a value: as in XML, in parts and in JSON in JSON. */
const keyInText = new RegExp(`(?:${keyNames})[\\w-]{0,40}\\\\?["']?\\s{0,4}[:=>;\\n]`, 'i');
/** Of headers and of the query. They have keys under more names than these have uses. */
const secretParameter =
  /auth|cookie|key|token|secret|passw|signature|^sig$|credential|session|csrf|xsrf|jwt/i;

export const isSecretParameter = (name: string): boolean => secretParameter.test(name);

/** A name is shown where it looks like one of ours: keys of members may be data. */
export const nameShown = (name: string): string =>
  isShowableName(name) ? name : `<name ${name.length}>`;

interface Open {
  readonly isObject: boolean;
  /** A name comes next. */
  isAtName: boolean;
  readonly isSecret: boolean;
  isMemberSecret: boolean;
}

const stringEnd = /["\\]/g;
const word = /[^\s,:{}[\]"]+/y;

/** The pieces of a JSON text, which may be cut or wrong anywhere. White space is left out. */
export function* jsonPieces(text: string): Generator<Piece> {
  const open: Open[] = [];
  const isSecretHere = (): boolean => {
    const top = open.at(-1);
    return top !== undefined && (top.isSecret || top.isMemberSecret);
  };
  for (let at = 0; at < text.length;) {
    const character = text[at] ?? '';
    const top = open.at(-1);
    if (character === '"') {
      const { end, value } = readString(text, at);
      at = end;
      if (top?.isAtName) {
        top.isMemberSecret = secretMember.test(value);
        yield { kind: 'name', text: value, isQuoted: true };
      } else yield { kind: 'string', text: value, isSecret: isSecretHere(), isQuoted: true };
    } else if (character === '{' || character === '[') {
      const isObject = character === '{';
      const isSecret = isSecretHere();
      open.push({ isObject, isAtName: isObject, isSecret, isMemberSecret: false });
      at += 1;
      yield character;
    } else if (/[\]},:]/.test(character)) {
      if (character === '}' || character === ']') open.pop();
      else if (top?.isObject) top.isAtName = character === ',';
      at += 1;
      yield character;
    } else if (/\s/.test(character)) at += 1;
    else {
      word.lastIndex = at;
      const found = word.exec(text)?.[0] ?? character;
      at += found.length;
      yield found === 'null'
        ? found
        : { kind: kindOf(found), text: found, isSecret: isSecretHere() };
    }
  }
}

function kindOf(found: string): Leaf['kind'] {
  if (found === 'true' || found === 'false') return 'boolean';
  return /^-?\d[\d.eE+-]*$/.test(found) ? 'number' : 'text';
}

/** A string without an end goes to the end of the text. */
function readString(text: string, from: number): { readonly end: number; readonly value: string } {
  stringEnd.lastIndex = from + 1;
  for (let found = stringEnd.exec(text); found; found = stringEnd.exec(text)) {
    if (found[0] === '"') {
      return { end: stringEnd.lastIndex, value: unescaped(text.slice(from, stringEnd.lastIndex)) };
    }
    stringEnd.lastIndex += 1;
  }
  return { end: text.length, value: text.slice(from + 1) };
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

/** Names and values of a form, or of a query. */
export function* formPieces(text: string, isSecret: (name: string) => boolean): Generator<Piece> {
  for (const [nth, part] of text.split('&').entries()) {
    if (nth > 0) yield '&';
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    if (name !== '') yield { kind: 'name', text: name };
    if (equals < 0) continue;
    yield '=';
    const value = decoded(part.slice(equals + 1));
    if (value !== '') yield { kind: 'string', text: value, isSecret: isSecret(name) };
  }
}

export const isSecretMember = (name: string): boolean => secretMember.test(name);

export const holdsKey = (text: string): boolean => keyInText.test(text);

export function* pathPieces(path: string): Generator<Piece> {
  for (const [nth, segment] of path.split('/').entries()) {
    if (nth > 0) yield '/';
    if (segment !== '') yield { kind: 'string', text: decoded(segment, false) };
  }
}

function decoded(text: string, plusIsSpace = true): string {
  const spaced = plusIsSpace ? text.replaceAll('+', ' ') : text;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
