import { shownAsCodePoints } from './foreign-text';

const shown = (text: string, keep?: string) =>
  shownAsCodePoints(text, keep)
    .map(({ text, isCodePoint }) => (isCodePoint ? `[${text}]` : text))
    .join('');

it.each([
  ['invoice\u202Efdp.exe', 'invoice[U+202E]fdp.exe'],
  ['\u2066a\u2069', '[U+2066]a[U+2069]'],
  ['a\u0000\u001b[31m', 'a[U+0000][U+001B][31m'],
  ['zero\u200Bwidth\uFEFF', 'zero[U+200B]width[U+FEFF]'],
  ['two\nlines\u2028three', 'two[U+000A]lines[U+2028]three'],
  ['tag \u{E0041}', 'tag [U+E0041]'],
  ['half \uD800', 'half [U+D800]'],
])('%j is shown with its hidden characters as code points', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

it('letters of all scripts, and lines of output, are shown as they are', () => {
  expect(shown('Ada Åström 東京 שלום 😀')).toBe('Ada Åström 東京 שלום 😀');
  expect(shown('one\n\ttwo\r', '\n\t')).toBe('one\n\ttwo[U+000D]');
});

it('markup of others stays text', () => {
  expect(shown('<img src=x onerror=alert(1)>')).toBe('<img src=x onerror=alert(1)>');
});
