import { nextSlice } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { Place, Sealer } from '@glovebox/seal';

/** Sealed bytes of tokens that one request may open, over all its look-ups. */
export const openedBytesMax = 10 * 1024 * 1024;

/** Values in what one request opens. A parsed value takes up to thirty times its bytes. */
const openedValuesMax = 200_000;

/** A look-up of more bytes waits for one of a few places: parsing holds up all other requests. */
export const openedAtOnceMax = 128 * 1024;

/** Bytes of memory of a list or object besides its text. */
const valueBytes = 64;

const breathBytes = 128 * 1024;

export interface SealedValue {
  readonly place: Place;
  readonly sealed: Buffer;
}

/** Counts what one request may still open. Its look-ups share the budget, one after the other. */
export class OpeningBudget {
  #bytesLeft = openedBytesMax;
  #valuesLeft = openedValuesMax;
  #untilBreath = breathBytes;

  /** `keep` is called with the memory of each value, and throws where there is no room for it. */
  constructor(private readonly keep: (bytes: number) => void = () => undefined) {}

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /**
   * Opens values that were sealed as JSON. Parses none before all of them were counted, and lets
   * other requests run between large values.
   */
  async openAll(sealer: Sealer, all: readonly SealedValue[]): Promise<unknown[]> {
    const texts: Buffer[] = [];
    for (const { place, sealed } of all) {
      this.#bytesLeft -= sealed.length;
      const json = sealer.openNow(place, sealed) ?? (await sealer.open(place, sealed));
      const values = valuesIn(json);
      this.#valuesLeft -= values;
      if (this.#valuesLeft < 0) throw tooManyValues();
      this.keep(json.length + values * valueBytes);
      texts.push(json);
      if (this.#isOutOfBreath(json.length)) await nextSlice();
    }
    const opened: unknown[] = [];
    for (const json of texts) {
      opened.push(JSON.parse(json.toString('utf8')));
      if (this.#isOutOfBreath(json.length)) await nextSlice();
    }
    return opened;
  }

  async open(sealer: Sealer, place: Place, sealed: Buffer): Promise<unknown> {
    return (await this.openAll(sealer, [{ place, sealed }]))[0];
  }

  #isOutOfBreath(bytes: number): boolean {
    this.#untilBreath -= bytes;
    if (this.#untilBreath >= 0) return false;
    this.#untilBreath = breathBytes;
    return true;
  }
}

export function tooManyBytes(): Problem {
  return new Problem('payload_too_large', {
    detail: `A request may open at most ${openedBytesMax} bytes of tokens; a list may ask for a smaller size.`,
  });
}

function tooManyValues(): Problem {
  return new Problem('payload_too_large', {
    detail: `The tokens that a request opens may hold at most ${openedValuesMax} values; a list may ask for a smaller size.`,
  });
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBrace = 0x7b;

/**
 * Counts values in the output of JSON.stringify: one, one more in each list or object that is not
 * empty, and one after each comma.
 */
function valuesIn(json: Buffer): number {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json[at] ?? 0;
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if (code === comma) values += 1;
    // A bracket is a brace without the bit 0x20. The character that closes either is its code plus
    // 2.
    else if ((code | 0x20) === openBrace && json[at + 1] !== code + 2) values += 1;
  }
  return values;
}
