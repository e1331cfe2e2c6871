import { readFileSync } from 'node:fs';

/** A fenced block of a page. */
export interface Sample {
  readonly line: number;
  /** The text after the language: its content, and the name of the example that it belongs to. */
  readonly kind: string;
  readonly name: string;
  readonly text: string;
}

export function samplesIn(file: string): Sample[] {
  const samples: Sample[] = [];
  const lines = readFileSync(file, 'utf8').split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const info = /^\s*```(.*)$/.exec(lines[at] ?? '')?.[1];
    if (info === undefined) continue;
    const end = lines.findIndex((line, later) => later > at && /^\s*```$/.test(line));
    if (end < 0) throw new Error(`${file}:${at + 1}: the block has no end`);
    const [language = '', what = '', name = ''] = info.trim().split(/\s+/);
    const text = lines.slice(at + 1, end).join('\n');
    samples.push({ line: at + 1, kind: `${language} ${what}`.trim(), name, text });
    at = end;
  }
  return samples;
}

/** Parses a sample as JSON in which `"…"` stands for any text, and a member `"…"` for any others. */
export function expectJson(actual: string, shown: string): void {
  expect(JSON.parse(actual)).toEqual(JSON.parse(shown, (_, value: unknown) => patternOf(value)));
}

function patternOf(value: unknown): unknown {
  if (value === '…') return expect.any(String);
  if (typeof value !== 'object' || value === null || !('…' in value)) return value;
  const named = Object.entries(value).filter(([name]) => name !== '…');
  return expect.objectContaining(Object.fromEntries(named));
}

/** The blocks `sh tour` of a page, with the output that the page shows for some of them. */
export function toursOf(samples: readonly Sample[]): { block: string; shown?: Sample }[] {
  const tours: { block: string; shown?: Sample }[] = [];
  for (const sample of samples) {
    const last = tours.at(-1);
    if (sample.kind === 'sh tour') tours.push({ block: sample.text });
    else if (last && /^(?:json|text) output$/.test(sample.kind)) last.shown = sample;
  }
  return tours;
}

/** Compares the output of a shell with the page: all of the JSON, or each line of a text. */
export function expectShown(outputs: readonly string[], tours: ReturnType<typeof toursOf>): void {
  for (const [at, { shown }] of tours.entries()) {
    if (!shown) continue;
    const output = outputs[at] ?? '';
    if (shown.kind === 'json output') expectJson(output, shown.text);
    else for (const line of shown.text.split('\n')) expect(output).toContain(line);
  }
}
