import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '@glovebox/problems';
import { filterNames } from './filters/filters';
import { dataTemplate, headerTemplate, pathTemplate, valueTemplate } from './index';
import { formTemplate, jsonTemplate, textTemplate } from './spec-bodies';

const page = readFileSync(join(__dirname, '../../../docs/reference/expressions.md'), 'utf8');

function blocks(info: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${info}\\n([^]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );
}

const tokens = JSON.parse(blocks('json tokens')[0] ?? '') as Record<string, unknown>;
const values = new Map(Object.entries(tokens));

const results: Readonly<Record<string, (text: string) => string>> = {
  value: (text) => JSON.stringify(valueTemplate(text).render(values)),
  data: (text) => JSON.stringify(dataTemplate(text).render(values.get('card'))),
  json: (text) => jsonTemplate(text).render(values),
  form: (text) => formTemplate(text).render(values),
  path: (text) => pathTemplate(text).render(values),
  text: (text) => textTemplate(text).render(values),
  header: (text) => headerTemplate(['name', text]).render(values)[1] ?? '',
};

function outcome(context: string, text: string): string {
  try {
    return results[context]?.(text) ?? 'no such context';
  } catch (error) {
    if (error instanceof Problem) return String(error.status);
    throw error;
  }
}

const examples = Object.keys(results).flatMap((context) =>
  blocks(`example ${context}`).flatMap((block) =>
    block
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [text = '', result = ''] = line.split(' → ');
        return { context, text, result };
      }),
  ),
);

describe('docs/reference/expressions.md is true:', () => {
  it.each(examples)('in a $context, $text becomes $result', ({ context, text, result }) => {
    expect(outcome(context, text)).toBe(result);
  });

  it('has examples of every context and every filter', () => {
    const without = Object.keys(results).filter(
      (context) => !examples.some((example) => example.context === context),
    );
    const unused = filterNames.filter(
      (name) => !examples.some(({ text }) => new RegExp(`\\|\\s*${name}\\b`).test(text)),
    );
    expect([...without, ...unused]).toEqual([]);
  });
});
