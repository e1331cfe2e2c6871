/** What may come next. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma' | 'nothing';

const blanks = /[ \n\r\t]*/y;
const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const plainText = /[^"\\\x00-\x1f]{1,65536}/y;
const escape = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
const tokensAtOnce = 4_096;

/**
 * Finds where a text stops being JSON: the place of the first character that cannot be there, or of
 * its end. JSON.parse tells this in other words in each version of Node, and shows the text.
 */
export function* findFault(text: string): Generator<undefined, number, undefined> {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const takeString = (): boolean => {
    at += 1;
    while (take(plainText) || take(escape));
    if (text[at] !== '"') return false;
    at += 1;
    return true;
  };
  for (let tokens = 1; ; tokens += 1) {
    if (tokens % tokensAtOnce === 0) yield;
    take(blanks);
    const next = text[at];
    const inside = open.at(-1);
    const mayEnd = expected === 'comma' || expected.endsWith('or end');
    const afterValue = inside === undefined ? 'nothing' : 'comma';
    if (mayEnd && next === (inside === '{' ? '}' : ']')) {
      open.pop();
      expected = open.length === 0 ? 'nothing' : 'comma';
    } else if (expected === 'comma' && next === ',') {
      expected = inside === '{' ? 'name' : 'value';
    } else if (expected === 'colon' && next === ':') {
      expected = 'value';
    } else if (expected.startsWith('name') && next === '"') {
      if (!takeString()) return at;
      expected = 'colon';
      continue;
    } else if (expected.startsWith('value') && (next === '{' || next === '[')) {
      open.push(next);
      expected = next === '{' ? 'name or end' : 'value or end';
    } else if (expected.startsWith('value')) {
      if (next === '"' ? !takeString() : !take(word)) return at;
      expected = afterValue;
      continue;
    } else return at;
    at += 1;
  }
}

/** Line and character, both counted from 1. */
export function placeIn(text: string, at: number): string {
  let line = 1;
  let from = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', from)) {
    line += 1;
    from = end + 1;
  }
  return `line ${line}, character ${at - from + 1}`;
}

/** A sign is shown as it is: it is no data. Of everything else only the kind is told. */
export function kindOf(character: string | undefined): string {
  if (character === undefined) return 'end';
  if (/[!-/:-@[-`{-~]/.test(character)) return character;
  if (/[A-Za-z]/.test(character)) return 'letter';
  return /\d/.test(character) ? 'digit' : 'character';
}
