/**
 * Characters that show as nothing or turn the order of what stands around them. `shownAsCodePoints`
 * names them: text of others must look like what it is.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/u;

export interface Piece {
  text: string;
  /** Of a character that is shown as its code point. */
  isCodePoint: boolean;
}

/** Splits a text into what is shown as it is and what is shown as code points. */
export function shownAsCodePoints(text: string, keep = ''): Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  for (const character of text) {
    if (!unseen.test(character) || keep.includes(character)) {
      plain += character;
      continue;
    }
    if (plain) pieces.push({ text: plain, isCodePoint: false });
    plain = '';
    const point = character.codePointAt(0) ?? 0;
    const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
    pieces.push({ text: name, isCodePoint: true });
  }
  if (plain) pieces.push({ text: plain, isCodePoint: false });
  return pieces;
}
