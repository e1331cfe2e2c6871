import { Tally } from './bounds/limits';
import { atOnce } from './bounds/time-slices';
import { bodyTemplate, type BodyContext } from './expand/expand-stream';
import type { Template } from './expand/template';

type TextTemplate = (text: string, tally?: Tally) => Pick<Template<string>, 'tokenIds' | 'render'>;

export const jsonTemplate = bodyOf('json');
export const formTemplate = bodyOf('form');
export const textTemplate = bodyOf('text');

/** Reads and renders a body as text. */
function bodyOf(context: BodyContext): TextTemplate {
  return (text, tally = new Tally()) => {
    const { tokenIds, render } = atOnce(bodyTemplate(Buffer.from(text), context, tally));
    return { tokenIds, render: (values, budget) => render(values, budget).toString() };
  };
}
