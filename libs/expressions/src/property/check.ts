import { Problem } from '@glovebox/problems';
import { randomFrom } from '@glovebox/testing';
import {
  Budget,
  expandStream,
  headerTemplate,
  pathTemplate,
  Tally,
  valueTemplate,
  type Template,
} from '../index';
import { formTemplate, jsonTemplate, textTemplate } from '../spec-bodies';
import { hostileValues, makeCase, type Case } from './cases';
import { refused, slowly } from './slow-reference';

/** Compares templates with the reference, and in one case out of four also streams. */
export async function checkCases(seed: number, count: number): Promise<number> {
  const random = randomFrom(seed);
  let replaced = 0;
  for (let i = 0; i < count; i += 1) {
    const one = makeCase(random);
    const expected = slowly(one.context, one.text, hostileValues);
    hold(
      seed,
      i,
      one,
      orRefused(() => quickly(one)),
      expected,
    );
    if (i % 4 === 0) {
      const streamed = await inChunks(one, random);
      if (streamed !== undefined) hold(seed, i, one, streamed, asBytes(expected));
    }
    if (expected !== refused && expected !== one.text) replaced += 1;
  }
  return replaced;
}

function hold(seed: number, index: number, one: Case, result: unknown, expected: unknown): void {
  if (result === expected) return;
  const [a, b] = [result, expected].map((outcome) => JSON.stringify(outcome) ?? String(outcome));
  if (a === b) return;
  throw new Error(`seed ${seed}, case ${index}: ${JSON.stringify(one)} became ${a}, not ${b}`);
}

function quickly({ context, text }: Case): unknown {
  switch (context) {
    case 'json':
      return filled(jsonTemplate(text));
    case 'text':
      return filled(textTemplate(text));
    case 'form':
      return filled(formTemplate(text));
    case 'path':
      return filled(pathTemplate(text));
    case 'value':
      return filled(valueTemplate(text));
    case 'header': {
      const bytes = Buffer.from(text).toString('latin1');
      const value = filled(headerTemplate(['name', bytes]))[1] ?? '';
      return Buffer.from(value, 'latin1').toString('utf8');
    }
  }
}

function filled<Result>({
  tokenIds,
  render,
}: Pick<Template<Result>, 'tokenIds' | 'render'>): Result {
  return render(lookUp(tokenIds));
}

/** Refuses all ids if one is unknown, like the vault. */
function lookUp(tokenIds: readonly string[]): ReadonlyMap<string, unknown> {
  if (tokenIds.every((id) => hostileValues.has(id))) return hostileValues;
  throw new Problem('unknown_token');
}

function orRefused(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return refused;
    throw error;
  }
}

function asBytes(outcome: unknown): unknown {
  return typeof outcome === 'string' ? Buffer.from(outcome).toString('latin1') : outcome;
}

/** The bytes, one character each. Undefined for contexts that are not streamed. */
async function inChunks(
  { context, text }: Case,
  random: (below: number) => number,
): Promise<unknown> {
  if (context !== 'json' && context !== 'form' && context !== 'text') return undefined;
  const body = Buffer.from(text);
  const most = random(2) === 0 ? 2 : 12;
  async function* source(): AsyncGenerator<Buffer> {
    for (let at = 0, length = 0; at < body.length; at += length) {
      length = 1 + random(most);
      yield body.subarray(at, at + length);
    }
  }
  const resolve = async (ids: readonly string[]): Promise<typeof hostileValues> => lookUp(ids);
  const options = { context, tally: new Tally(), budget: new Budget(), resolve };
  const parts: Buffer[] = [];
  try {
    for await (const part of expandStream(source(), options)) parts.push(part);
  } catch (error) {
    if (error instanceof Problem) return refused;
    throw error;
  }
  return Buffer.concat(parts).toString('latin1');
}
