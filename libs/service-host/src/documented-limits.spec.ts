import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedLimits, tableRows, type DocumentedLimit } from '@glovebox/testing';

const root = join(__dirname, '../../..');
const page = readFileSync(join(root, 'docs/reference/limits.md'), 'utf8');
const configuration = readFileSync(join(root, 'docs/configuration.md'), 'utf8');

const rows = documentedLimits();

/** Numeric settings of the apps; docs/configuration.md is generated from their config.ts. */
const settings = new Map<string, number>();
for (const [name = '', fallback = ''] of tableRows(configuration)) {
  const setting = name.replaceAll(/[*`]/g, '');
  if (!/^`\d+`$/.test(fallback) || /PORT$/.test(setting)) continue;
  // Apps may differ. The least is the limit.
  const value = Number(fallback.replaceAll('`', ''));
  settings.set(setting, Math.min(value, settings.get(setting) ?? value));
}

/** Numeric settings that limit nothing which somebody could ask too much of. */
const noLimits = [
  'TRUSTED_HOPS',
  'CONSOLE_TRUSTED_HOPS',
  'POSTGRES_CONNECTIONS_MAX',
  'STOP_DELAY_MS',
  'TRACE_SAMPLE_PERCENT',
  'SANDBOX_WARM',
  'SANDBOX_UID_FIRST',
];

describe('docs/reference/limits.md', () => {
  it('lists limits, each with a value that can be read', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter(({ value }) => value === undefined)).toEqual([]);
  });

  it('gives each limit the value that the code has', () => {
    const wrong = rows
      .map((row) => ({ ...row, inCode: row.file ? constantOf(row) : settings.get(row.name) }))
      .filter(({ value, inCode }) => inCode === undefined || value !== inCode);
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

/** The number behind `const name =` in the file, or behind `name.member` of an object. */
function constantOf({ name, file = '' }: DocumentedLimit): number | undefined {
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
