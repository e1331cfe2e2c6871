import type { Argument, Change } from './filter';
import { isContainer, parseJsonPath, valueAt } from './json-path';
import { plainOf } from './opaque';
import { scalarText } from './text-filters';

export function json(path?: Argument): Change | undefined {
  const steps = typeof path === 'string' ? parseJsonPath(path) : undefined;
  return steps && ((value, budget) => valueAt(value, steps, budget));
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function toNumber(value: unknown): number | undefined {
  const text = scalarText(value)?.trim() ?? '';
  const number = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : Infinity;
  return Number.isFinite(number) ? number : undefined;
}

export function toBoolean(value: unknown): boolean | undefined {
  const text = scalarText(value)?.trim().toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Makes no copy: the value may have a hundred thousand members. */
function memberOf(value: unknown, name: string): unknown {
  if (!isContainer(value) || !Object.hasOwn(value, name)) return undefined;
  return plainOf((value as Readonly<Record<string, unknown>>)[name]);
}

/** Writes the month and year of a card in place of M, MM, YY and YYYY. */
export function cardExp(format: Argument = 'MM/YY'): Change | undefined {
  if (typeof format !== 'string' || !/[MY]/.test(format)) return undefined;
  return (card) => {
    const month = wholeNumber(memberOf(card, 'expiration_month'), /^(?:0?[1-9]|1[0-2])$/);
    const year = wholeNumber(memberOf(card, 'expiration_year'), /^\d{4}$/);
    if (month === undefined || year === undefined) return undefined;
    return format.replace(/YYYY|YY|MM|M/g, (part) => {
      if (part.startsWith('Y')) return year.slice(-part.length);
      return part === 'M' ? String(Number(month)) : month.padStart(2, '0');
    });
  };
}
/** Cards are stored with numbers, or with the texts that forms give. */
function wholeNumber(value: unknown, shape: RegExp): string | undefined {
  const text = typeof value === 'string' || Number.isInteger(value) ? String(value) : '';
  return shape.test(text) ? text : undefined;
}

/** 19 digits, with as many spaces and dashes between them. */
const cardNumberLengthMax = 38;

/** The first digits of a card or of a card number: 6, as in every network, or 8 if asked for. */
export function cardBin(digits: Argument = 6): Change | undefined {
  if (digits !== 6 && digits !== 8) return undefined;
  return (value) => {
    const text = scalarText(value) ?? scalarText(memberOf(value, 'number'));
    if (text === undefined || text.length > cardNumberLengthMax) return undefined;
    const number = text.replace(/[ -]/g, '');
    return /^\d{12,19}$/.test(number) ? number.slice(0, digits) : undefined;
  };
}
