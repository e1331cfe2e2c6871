import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const page = join(__dirname, '../../../docs/reference/limits.md');

/** A row of docs/reference/limits.md: `name` in `file` of the column "Set by", or a setting. */
export interface DocumentedLimit {
  /** The title of its table. */
  readonly section: string;
  readonly name: string;
  readonly file: string | undefined;
  /** The name, below that of the file if there is one: `intake.headersMax`. */
  readonly key: string;
  /** A time is in milliseconds. Undefined: it cannot be read. */
  readonly value: number | undefined;
}

export function documentedLimits(): DocumentedLimit[] {
  return readFileSync(page, 'utf8')
    .split(/^## /m)
    .flatMap((section) => {
      const [title = ''] = section.split('\n', 1);
      return tableRows(section).flatMap(([, value = '', setBy = '']) => {
        const [, name, file] = /^`([\w.]+)`(?: in `([^`]+)`)?/.exec(setBy) ?? [];
        if (name === undefined) return [];
        const key = file === undefined ? name : `${basename(file, '.ts')}.${name}`;
        return [{ section: title, name, file, key, value: numberOf(value) }];
      });
    });
}

/** The rows of all tables of a page, without their heads. */
export function tableRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| -+/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const units: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
};

/** "64 KiB" and "1,000" as numbers; a time in milliseconds. */
function numberOf(value: string): number | undefined {
  const [, number, unit = ''] =
    /^([\d,]+(?:\.\d+)?)(?: (KiB|MiB|GiB|ms|s|min|h))?$/.exec(value) ?? [];
  const factor = units[unit];
  if (number === undefined || factor === undefined) return undefined;
  return Number(number.replaceAll(',', '')) * factor;
}
