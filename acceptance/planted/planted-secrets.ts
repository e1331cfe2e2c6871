import { randomBytes, randomInt } from 'node:crypto';
import type { Secret } from './planted-search';

/** Makes unique secrets and remembers them. */
export class PlantedSecrets {
  readonly #all: Secret[] = [];

  get all(): readonly Secret[] {
    return this.#all;
  }

  /** Adds a secret that somebody else made. */
  add(name: string, secret: string | Buffer): void {
    this.#all.push({ name, bytes: Buffer.from(secret) });
  }

  /** Each text begins differently, which makes the search fast. */
  text(name: string): string {
    const random = randomBytes(18).toString('base64url').replace(/[-_]/g, 'x');
    return this.#remembered(name, `${random}Planted`);
  }

  digits(name: string, length: number): string {
    return this.#remembered(name, randomDigits(length));
  }

  number(name: string): number {
    return Number(this.#remembered(name, randomDigits(15)));
  }

  /** Sixteen digits that pass the Luhn check. */
  card(name: string): string {
    const digits = randomDigits(15);
    return this.#remembered(name, digits + checkDigit(digits));
  }

  /** Nine digits with dashes, in the form of a person's number. */
  socialSecurityNumber(name: string): string {
    const digits = randomDigits(9);
    const text = `${digits.slice(0, 3)}-${digits.slice(3, 5)}-${digits.slice(5)}`;
    return this.#remembered(name, text);
  }

  employerNumber(name: string): string {
    const digits = randomDigits(9);
    return this.#remembered(name, `${digits.slice(0, 2)}-${digits.slice(2)}`);
  }

  /** Nine digits that pass the ABA check. */
  routingNumber(name: string): string {
    const digits = randomDigits(8);
    const weights = [3, 7, 1, 3, 7, 1, 3, 7];
    const sum = weights.reduce((total, weight, at) => total + weight * Number(digits[at]), 0);
    return this.#remembered(name, `${digits}${(10 - (sum % 10)) % 10}`);
  }

  #remembered(name: string, secret: string): string {
    this.add(name, secret);
    return secret;
  }
}

/** The first digit is not zero, because some are used as numbers. */
function randomDigits(length: number): string {
  return Array.from({ length }, (_, at) => randomInt(at === 0 ? 1 : 0, 10)).join('');
}

function checkDigit(digits: string): number {
  const sum = [...digits].toReversed().reduce((total, digit, at) => {
    const doubled = Number(digit) * (at % 2 === 0 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return (10 - (sum % 10)) % 10;
}
