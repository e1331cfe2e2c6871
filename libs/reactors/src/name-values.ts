import type { Work } from '@glovebox/expressions';
import { typedMembers } from '@glovebox/vault';
import {
  addValue,
  addValues,
  charactersOf,
  eachLine,
  emptyIndex,
  knownValuesMax,
  look,
  nameLengthMin,
  valueCharactersMax,
  type OnFound,
} from './known-values';
import { redacted } from './redact';
import { byteText } from './redact-views';

/** Names of members of our own types of data. */
const typedNames: ReadonlySet<string> = new Set(typedMembers);

/** A value, and the text that is shown in its place. Names of its members count as values. */
export interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** A part of a text: as it is, or the name of the value that it shows. */
export type NamedPart = { readonly text: string } | { readonly name: string };

/**
 * Finds these values in texts, in every form that `redactorOf` finds, and names them. Of two that
 * overlap the longer one is named, of two that are the same the first. Undefined: it would take too
 * much work.
 */
export function* nameValues(
  lines: readonly string[],
  known: readonly NamedValue[],
  stepsMax: number,
): Work<readonly (readonly NamedPart[])[] | undefined> {
  const index = emptyIndex('');
  const names = new Map<string, string>();
  let left = knownValuesMax;
  let wordsNamed = 0;
  const words = index.words.keys();
  for (const { name, value } of known) {
    const before = index.values.length;
    const members = new Set<string>();
    left = yield* addValues(index, [value], left, (member) => members.add(member));
    for (const member of members) {
      if (member.length >= nameLengthMin && !typedNames.has(member)) addValue(index, member);
    }
    left -= members.size;
    if (left < 0) return undefined;
    for (const added of index.values.slice(before)) {
      const bytes = byteText(added.slice(0, valueCharactersMax));
      if (!names.has(bytes)) names.set(bytes, name);
    }
    // Words stand in the order in which they were added: the walk goes on where it was.
    for (; wordsNamed < index.words.size; wordsNamed += 1)
      names.set(words.next().value ?? '', name);
  }
  const length = charactersOf(lines);
  const nameAt: (string | undefined)[] = Array.from({ length });
  const longestAt = new Int32Array(length);
  const onFound: OnFound = (from, to, value) => {
    const end = Math.min(to, length);
    const name = names.get(value) ?? redacted;
    for (let at = from; at < end; at += 1) {
      if (end - from < (longestAt[at] ?? 0)) continue;
      longestAt[at] = end - from;
      nameAt[at] = name;
    }
  };
  if ((yield* look(lines, index, onFound, stepsMax)) >= stepsMax) return undefined;
  return eachLine(lines, (line, begin, end) => namedParts(line, nameAt.slice(begin, end)));
}

function namedParts(line: string, nameAt: readonly (string | undefined)[]): NamedPart[] {
  const parts: NamedPart[] = [];
  for (let at = 0; at < line.length;) {
    const name = nameAt[at];
    let end = at + 1;
    while (end < line.length && nameAt[end] === name) end += 1;
    parts.push(name === undefined ? { text: line.slice(at, end) } : { name });
    at = end;
  }
  return parts;
}
