import type { Argument, Change } from './filters';
import { parseJsonPath, valueAt } from './json-path';
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

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Of a card: its month and year in the place of M, MM, YY and YYYY. */
export function cardExp(format: Argument = 'MM/YY'): Change | undefined {
  if (typeof format !== 'string' || !/[MY]/.test(format)) return undefined;
  return (card) => {
    const { expiration_month: month, expiration_year: year } = membersOf(card);
    if (!isWithin(month, 1, 12) || !isWithin(year, 1000, 9999)) return undefined;
    return format.replace(/YYYY|YY|MM|M/g, (part) => {
      if (part.startsWith('Y')) return String(year).slice(-part.length);
      return String(month).padStart(part.length, '0');
    });
  };
}

function isWithin(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

/** The first digits of a card, or of a card number: 6, as of every network, unless 8 are asked for. */
export function cardBin(digits: Argument = 6): Change | undefined {
  if (digits !== 6 && digits !== 8) return undefined;
  return (value) => {
    const text = scalarText(value) ?? scalarText(membersOf(value).number);
    const number = text?.replace(/[ -]/g, '');
    return number && /^\d{12,19}$/.test(number) ? number.slice(0, digits) : undefined;
  };
}
