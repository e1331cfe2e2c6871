/** Index of the n-th character. Characters are code points: no cut divides a surrogate pair. */
export function fromStart(text: string, characters: number): number {
  let at = 0;
  for (let i = 0; i < characters && at < text.length; i += 1) at += isPair(text, at) ? 2 : 1;
  return at;
}

/** Index of the last n characters. */
export function fromEnd(text: string, characters: number): number {
  let at = text.length;
  for (let i = 0; i < characters && at > 0; i += 1) at -= isPair(text, at - 2) ? 2 : 1;
  return at;
}

export function lengthOf(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += isPair(text, at) ? 2 : 1) length += 1;
  return length;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}
