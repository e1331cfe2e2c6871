/** Shorter texts would blacken half of what is said. */
const lengthMin = 4;

/** Blacks out, in a text for others, every value that the run knew: data of tokens, configuration. */
export function redactorOf(known: readonly unknown[]): (text: string) => string {
  const texts = [...new Set(known.flatMap(textsOf))]
    .filter((text) => text.length >= lengthMin)
    // A value that contains another one goes first, as a whole.
    .sort((a, b) => b.length - a.length);
  return (text) =>
    texts.reduce(
      (shown, secret) => withoutBeginningAtEnd(shown.replaceAll(secret, '[redacted]'), secret),
      text,
    );
}

/** Long texts come cut off, and the cut may have gone through a value. */
function withoutBeginningAtEnd(text: string, secret: string): string {
  for (let length = Math.min(secret.length, text.length); length >= lengthMin; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}[redacted]`;
  }
  return text;
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
