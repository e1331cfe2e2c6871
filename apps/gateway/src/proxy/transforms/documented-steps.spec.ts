import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TransformStep } from '@glovebox/definitions';
import { atOnce } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { ServiceHeaders } from '@glovebox/wire';
import { readExactJson, writeExactJson } from './exact-json';
import { applySteps } from './steps';

const page = readFileSync(join(__dirname, '../../../../../docs/proxies.md'), 'utf8');

/** Each step of the page with the examples behind it. */
const examples = [
  ...page.matchAll(/^```json step\n([^]*?)^```\n\n```example step\n([^]*?)^```/gm),
].flatMap(([, step = '', lines = '']) =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [before = '', after = ''] = line.split(' → ');
      return { step: JSON.parse(step) as TransformStep, before, after };
    }),
);

async function outcome(step: TransformStep, text: string): Promise<string> {
  const tools = {
    side: 'request' as const,
    serviceHeaders: new ServiceHeaders([]),
    tokenize: (asked: readonly unknown[]) => Promise.resolve(asked.map((_, at) => `t${at + 1}`)),
  };
  const body = atOnce(readExactJson(text));
  try {
    const changed = await applySteps([step], { headers: [], query: '', body }, tools);
    return atOnce(writeExactJson(changed.body));
  } catch (error) {
    if (error instanceof Problem) return String(error.status);
    throw error;
  }
}

describe('docs/proxies.md is true:', () => {
  it.each(examples)('$before under $step becomes $after', async ({ step, before, after }) => {
    expect(await outcome(step, before)).toBe(after);
  });

  it('has examples of every step that changes a body by itself', () => {
    expect(new Set(examples.map(({ step }) => step.type))).toEqual(
      new Set(['mask', 'tokenize', 'append', 'remove']),
    );
  });
});
