import { nextSlice } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { Place, Sealer } from '@glovebox/seal';

/** Of tokens as they are stored, over all look-ups of one request. */
export const openedBytesMax = 10 * 1024 * 1024;

/** Of what was opened: a value takes up to thirty times its bytes once it is parsed. */
const openedValuesMax = 200_000;

/** A look-up of more waits for one of a few places: parsing keeps a process from all others. */
export const openedAtOnceMax = 128 * 1024;
export const largeOpeningsMax = 2;
export const largeOpeningWaitMs = 5_000;
/** Of one tenant. */
export const waitingOpeningsMax = 50;

/** What a list or object takes besides its text. */
const valueBytes = 64;

const breathBytes = 128 * 1024;

export interface Sealed {
  readonly place: Place;
  readonly sealed: Buffer;
}

/** What one request may still open. Its look-ups share it, one after the other. */
export class OpeningBudget {
  #bytesLeft = openedBytesMax;
  #valuesLeft = openedValuesMax;
  #untilBreath = breathBytes;

  /** Told of the memory that each value takes; throws where there is no room for it. */
  constructor(private readonly keep: (bytes: number) => void = () => undefined) {}

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /**
   * What was sealed as JSON. Nothing is parsed before all of it was counted, and others are served
   * between large values.
   */
  async openAll(sealer: Sealer, all: readonly Sealed[]): Promise<unknown[]> {
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

/** Of JSON that JSON.stringify has made: one, one more in each list or object, and one after each comma. */
function valuesIn(json: Buffer): number {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json[at] ?? 0;
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if (code === comma) values += 1;
    // A bracket is a brace without the bit of 0x20, and what closes either stands two further on.
    else if ((code | 0x20) === openBrace && json[at + 1] !== code + 2) values += 1;
  }
  return values;
}
