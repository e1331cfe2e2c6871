import { parseStrictJson } from './strict-json';

function detailOf(text: string): string | undefined {
  const work = parseStrictJson(text);
  try {
    while (work.next().done !== true);
  } catch (error) {
    return (error as { detail?: string }).detail;
  }
  return 'it is JSON';
}

describe('the place of a fault in JSON', () => {
  it.each([
    ['{"a": 123,}', 'Unexpected } at line 1, character 11.'],
    ["{'a': 1}", "Unexpected ' at line 1, character 2."],
    ['{a: 1}', 'Unexpected letter at line 1, character 2.'],
    ['{\n  "a": 1\n  "b": 2\n}', 'Unexpected " at line 3, character 3.'],
    ['', 'Unexpected end at line 1, character 1.'],
    ['{"a":', 'Unexpected end at line 1, character 6.'],
    ['{"a": "x', 'Unexpected end at line 1, character 9.'],
    ['[1, 2', 'Unexpected end at line 1, character 6.'],
    ['[1 2]', 'Unexpected digit at line 1, character 4.'],
    ['[01]', 'Unexpected digit at line 1, character 3.'],
    ['[1.]', 'Unexpected . at line 1, character 3.'],
    ['[1,]', 'Unexpected ] at line 1, character 4.'],
    ['[1}', 'Unexpected } at line 1, character 3.'],
    ['{"a" 1}', 'Unexpected digit at line 1, character 6.'],
    ['{1: 2}', 'Unexpected digit at line 1, character 2.'],
    ['{"a": undefined}', 'Unexpected letter at line 1, character 7.'],
    ['{"a": "\n"}', 'Unexpected character at line 1, character 8.'],
    ['{"a": "\\x"}', 'Unexpected \\ at line 1, character 8.'],
    ['{"\\u12": 1}', 'Unexpected \\ at line 1, character 3.'],
    ['{"a": "é", "b": ü}', 'Unexpected character at line 1, character 17.'],
    ['{"a": 1} x', 'Unexpected letter at line 1, character 10.'],
    ['{"a": 1}}', 'Unexpected } at line 1, character 9.'],
    ['{"a": 1, "b": 2, "a": 3}', 'The JSON has a duplicate member at line 1, character 18.'],
    ['{\n"__proto__": 1}', 'The JSON has a member with a reserved name at line 2, character 1.'],
    ['["\\ud800"]', 'The JSON has half a surrogate pair at line 1, character 2.'],
    [' {"a": [true, false, null, -1.5e+3, "\\u00e9\\n", {}, []]} ', 'it is JSON'],
  ])('of %j is told', (text, detail) => expect(detailOf(text)).toBe(detail));

  it('is found in a text of many tokens, with pauses between them', () => {
    const work = parseStrictJson(`[${'"text",'.repeat(90_000)}]`);
    let pauses = 0;
    const run = (): void => {
      while (work.next().done !== true) pauses += 1;
    };
    expect(run).toThrow('Unexpected ] at line 1, character 630002.');
    expect(pauses).toBeGreaterThan(20);
  });

  it('is found in time that grows with the text', () => {
    const before = performance.now();
    const length = 10 * 1024 * 1024;
    expect(detailOf(`["${'x'.repeat(length)}"`)).toBe(
      `Unexpected end at line 1, character ${length + 4}.`,
    );
    expect(detailOf(`${'\n'.repeat(length)}x`)).toBe(
      `Unexpected letter at line ${length + 1}, character 1.`,
    );
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});
