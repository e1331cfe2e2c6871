import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../..');
const page = readFileSync(join(root, 'docs/reference/limits.md'), 'utf8');
const configuration = readFileSync(join(root, 'docs/configuration.md'), 'utf8');

/** A row of the page: `name` in `file` of the column "Set by", or the name of a setting. */
interface Row {
  readonly value: string;
  readonly name: string;
  readonly file: string | undefined;
}

const rows: Row[] = cellsOf(page).flatMap(([, value = '', setBy = '']) => {
  const [, name, file] = /^`([\w.]+)`(?: in `([^`]+)`)?/.exec(setBy) ?? [];
  return name === undefined ? [] : [{ value, name, file }];
});

/** Numeric settings of the apps; docs/configuration.md is generated from their config.ts. */
const settings = new Map(
  cellsOf(configuration)
    .map(([name = '', fallback = '']) => [name.replaceAll(/[*`]/g, ''), fallback] as const)
    .filter(([name, fallback]) => /^`\d+`$/.test(fallback) && !/PORT$/.test(name))
    .map(([name, fallback]) => [name, Number(fallback.replaceAll('`', ''))]),
);

/** Numeric settings that limit nothing which somebody could ask too much of. */
const noLimits = [
  'TRUSTED_HOPS',
  'STOP_DELAY_MS',
  'TRACE_SAMPLE_PERCENT',
  'SANDBOX_WARM',
  'SANDBOX_UID_FIRST',
];

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

describe('docs/reference/limits.md', () => {
  it('lists limits, each with a value that can be read', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter(({ value }) => numberOf(value) === undefined)).toEqual([]);
  });

  it('gives each limit the value that the code has', () => {
    const wrong = rows
      .map((row) => ({ ...row, inCode: row.file ? constantOf(row) : settings.get(row.name) }))
      .filter(({ value, inCode }) => inCode === undefined || numberOf(value) !== inCode);
    expect(wrong).toEqual([]);
  });

  it('lists every numeric setting', () => {
    const missing = [...settings.keys()].filter(
      (name) => !noLimits.includes(name) && !rows.some((row) => row.name === name),
    );
    expect(missing).toEqual([]);
  });

  it('lists every constant that ends in Max or PerSecond', () => {
    const missing = sources().flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [...text.matchAll(/^(?:export )?const (\w+(?:Max|PerSecond)) = [\d_ *]+;/gm)]
        .map(([, name]) => `\`${name ?? ''}\` in \`${file}\``)
        .filter((limit) => !page.includes(limit));
    });
    expect(missing).toEqual([]);
  });
});

/** The rows of all tables of a page, without their heads. */
function cellsOf(text: string): string[][] {
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

/** "64 KiB" and "1,000" as numbers; a time in milliseconds. */
function numberOf(value: string): number | undefined {
  const [, number, unit = ''] =
    /^([\d,]+(?:\.\d+)?)(?: (KiB|MiB|GiB|ms|s|min|h))?$/.exec(value) ?? [];
  const factor = units[unit];
  if (number === undefined || factor === undefined) return undefined;
  return Number(number.replaceAll(',', '')) * factor;
}

/** The number behind `const name =` in the file, or behind `name.member` of an object. */
function constantOf({ name, file = '' }: Row): number | undefined {
  const [constant = '', member] = name.split('.');
  const text = readFileSync(join(root, file), 'utf8');
  const [, expression] =
    new RegExp(`^(?:export )?const ${constant} = ([^;]+);`, 'm').exec(text) ?? [];
  const part = member
    ? new RegExp(`\\b${member}: ([\\d_ *]+)`).exec(expression ?? '')?.[1]
    : expression;
  if (part === undefined || !/^[\d_ *]+$/.test(part)) return undefined;
  const factors = part.split('*').map((factor) => Number(factor.replaceAll(/[_ ]/g, '')));
  return factors.reduce((product, factor) => product * factor, 1);
}

function sources(): string[] {
  return ['apps', 'libs'].flatMap((area) =>
    readdirSync(join(root, area), { recursive: true, encoding: 'utf8' })
      .filter((file) => /^[^/]+\/src\/.*\.ts$/.test(file))
      .filter(
        (file) =>
          !/\.(spec|faults|soak)\.ts$|\/spec-|\/testing\/|^testing\/|\/property\//.test(file),
      )
      .map((file) => join(area, file)),
  );
}
