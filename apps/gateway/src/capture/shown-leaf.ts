import { normalTokenId } from '@glovebox/expressions';
import { mayBeData } from '@glovebox/problems';
import { redacted, type NamedPart } from '@glovebox/reactors';
import { holdsKey, nameShown, type Leaf } from './pieces';

const expression = /\{\{([^{}]{1,4096})\}\}/g;
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const argument = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d[\d.eE+-]*/g;
/** Characters of a path in an expression. */
const pathShownMax = 40;

/** What is known to be an expression. */
export interface KnownExpressions {
  /** Ids of tokens that the call opened. */
  readonly ids: ReadonlySet<string>;
  /** The texts of expressions that were carried out. */
  readonly sources: ReadonlySet<string>;
}

/**
 * Writes a value as it is kept: its type and length, with the expressions in it as they stand. `searched`
 * is undefined where nobody knows what was put in: then no name is shown.
 */
export function leafShape(
  { kind, text, isSecret, isQuoted }: Leaf,
  searched: readonly NamedPart[] | undefined,
  known: KnownExpressions,
): string {
  if (kind === 'name' && !searched) return `<name ${text.length}>`;
  const parts = searched ?? [{ text }];
  const hasName = parts.some((part) => 'name' in part);
  if (kind === 'name' && !hasName) return isQuoted ? quotedName(text) : nameShown(text);
  if (kind === 'boolean') return '<boolean>';
  const type = kind === 'name' ? 'string' : kind;
  if (text === '') return isSecret ? '<hidden>' : `<${type} 0>`;
  const raw = (part: string): string => (isSecret ? '<hidden>' : `<${type} ${part.length}>`);
  return parts
    .map((part) =>
      'name' in part ? shownName(part.name, known) : expressionsIn(part.text, known, raw),
    )
    .join('');
}

/** Writes a value as it came, with the expressions of what was put in. One that holds keys is a shape. */
export function leafText(
  leaf: Leaf,
  parts: readonly NamedPart[] = [{ text: leaf.text }],
  known: KnownExpressions,
): string {
  const { kind, isSecret, isQuoted } = leaf;
  if (kind !== 'name' && holdsKey(leaf.text)) return leafShape(leaf, parts, known);
  const text = parts
    .map((part) => {
      if ('name' in part) return shownName(part.name, known);
      return isSecret && kind !== 'name' ? '<hidden>' : part.text;
    })
    .join('');
  return isQuoted ? JSON.stringify(text) : text;
}

const quotedName = (text: string): string => {
  const name = nameShown(text);
  return name === text ? `"${name}"` : name;
};

function expressionsIn(
  text: string,
  known: KnownExpressions,
  raw: (part: string) => string,
): string {
  let shown = '';
  let end = 0;
  for (const found of text.matchAll(expression)) {
    if (found.index > end) shown += raw(text.slice(end, found.index));
    shown += expressionShown(found[1] ?? '', known);
    end = found.index + found[0].length;
  }
  return end < text.length ? shown + raw(text.slice(end)) : shown;
}

const shownName = (name: string, known: KnownExpressions): string =>
  name === redacted ? name : expressionShown(name, known);

/**
 * The place of an id may hold data by mistake. What stands behind it is shown where it was carried
 * out, so that it is made of filters; an argument of them where it does not look like data.
 */
function expressionShown(source: string, { ids, sources }: KnownExpressions): string {
  const trimmed = source.trim();
  const bar = trimmed.indexOf('|');
  const id = normalTokenId((bar < 0 ? trimmed : trimmed.slice(0, bar)).trim());
  if (!uuid.test(id) && !ids.has(id)) return `{{ <string ${trimmed.length}> }}`;
  if (bar < 0) return `{{ ${id} }}`;
  const filters = trimmed.slice(bar);
  if (!sources.has(trimmed)) return `{{ ${id} | <string ${filters.length}> }}`;
  return `{{ ${id} ${filters.replace(argument, argumentShown)} }}`;
}

/** A path of `json` is shown: it says which part was put in. Other texts may be keys, as of `hmac`. */
const argumentShown = (found: string): string => {
  if (!/^["']/.test(found)) return mayBeData(found) ? `<number ${found.length}>` : found;
  const isPath = /^["']\$/.test(found) && found.length <= pathShownMax && !mayBeData(found);
  return isPath ? found : `<string ${found.length - 2}>`;
};
