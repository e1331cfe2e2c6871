import { Tally } from '../bounds/limits';
import { toText } from '../filters/value-filters';
import type { Template } from './template';
import { headerTemplate } from './text-templates';
import { valueTemplate } from './value-template';

/** The value that a step appends, with expressions in it. */
export interface AppendedTemplate extends Template<unknown> {
  /** It can be made only when the body that leaves is known. */
  readonly signsBody: boolean;
}

type Location = 'header' | 'query' | 'body';

/** Undefined for a value without expressions, which is appended as it is written. */
export function appendedTemplate(location: Location, value: unknown): AppendedTemplate | undefined {
  const tally = new Tally({ mayReadBody: location !== 'body' });
  const template = templateAt(location, value, tally);
  if (template.tokenIds.length === 0) return undefined;
  return { ...template, signsBody: tally.signsBody };
}

function templateAt(location: Location, value: unknown, tally: Tally): Template<unknown> {
  if (location === 'body') return valueTemplate(value, tally);
  const text = String(value);
  if (location === 'query') return changed(valueTemplate(text, tally), wellFormed);
  return changed(headerTemplate(['', text], tally), ([, line]) => line);
}

/** Half a surrogate pair cannot be percent-encoded. */
const wellFormed = (value: unknown): string => toText(value).toWellFormed();

const changed = <Made>(
  template: Template<Made>,
  change: (made: Made) => unknown,
): Template<unknown> => ({
  tokenIds: template.tokenIds,
  render: (values, budget) => change(template.render(values, budget)),
  renderInSlices: async (values, budget) => change(await template.renderInSlices(values, budget)),
});
