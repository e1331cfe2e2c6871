import { Budget, Tally } from './limits';
import type { Piece } from './pieces';
import { evaluate, renderEach, type Values } from './render';
import { plainSyntax, SpanScanner, type Syntax } from './span-scanner';
import { tokenIdsOf, type Template } from './template';
import { toText } from './value-filters';

/**
 * Parsed JSON, such as the arguments of a reactor: a string that is exactly one expression becomes
 * the value with its type, in longer text a value becomes text. Names of members are never expanded.
 */
export function valueTemplate(value: unknown, tally = new Tally()): Template<unknown> {
  return templateOf(value, plainSyntax, tally);
}

/** A document over data at hand, such as a mask: `{{ data.number | last4 }}`. */
export interface DataTemplate {
  render(data: unknown, budget?: Budget): unknown;
}

/** As `valueTemplate`, but each expression begins with `data`, or with a path below it. */
export function dataTemplate(document: unknown, tally = new Tally()): DataTemplate {
  const template = templateOf(document, { ...plainSyntax, head: 'data' }, tally);
  return { render: (data, budget) => template.render(new Map([['data', data]]), budget) };
}

function templateOf(value: unknown, syntax: Syntax, tally: Tally): Template<unknown> {
  const tokenIds = new Set<string>();
  const piecesOf = (text: string): Piece[] => {
    const pieces = new SpanScanner(syntax, tally).write(text, true);
    for (const id of tokenIdsOf(pieces)) tokenIds.add(id);
    return pieces;
  };
  const build = builderOf(value, piecesOf);
  return {
    tokenIds: [...tokenIds],
    render: (values, budget = new Budget()) => build(values, budget),
  };
}

type Build = (values: Values, budget: Budget) => unknown;

function builderOf(value: unknown, piecesOf: (text: string) => Piece[]): Build {
  if (typeof value === 'string') {
    return value.includes('{{') ? textBuilder(piecesOf(value)) : () => value;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => builderOf(item, piecesOf));
    return (values, budget) => items.map((item) => item(values, budget));
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => [name, builderOf(member, piecesOf)] as const,
    );
    // fromEntries defines members: one that is called __proto__ stays a member.
    return (values, budget) =>
      Object.fromEntries(members.map(([name, member]) => [name, member(values, budget)]));
  }
  return () => value;
}

function textBuilder(pieces: readonly Piece[]): Build {
  const [only, second] = pieces;
  if (typeof only !== 'object' || second !== undefined) {
    return (values, budget) => renderEach(pieces, values, budget, toText).join('');
  }
  return (values, budget) => {
    const value = evaluate(only.expression, values, budget);
    budget.spend(toText(value));
    return value;
  };
}
