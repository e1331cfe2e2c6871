import { readFileSync } from 'node:fs';
import { Secret } from './secret';

interface Range {
  readonly min: number;
  readonly max: number;
}

/** A variable of the environment: its purpose, and how its text becomes a value. */
export interface Setting<Value> {
  readonly doc: string;
  readonly fallback: Value | undefined;
  readonly required: boolean;
  readonly secret: boolean;
  /** The bounds of a number. */
  readonly range?: Range;
  parse(text: string): Value;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Values<Settings> = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer Value> ? Value : never;
};

export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads all declared settings and throws one error that lists every fault. Each setting may also be
 * given as NAME_FILE, the path of a file that holds the value.
 */
export function loadConfig<Settings extends Record<string, Setting<unknown>>>(
  env: Environment,
  settings: Settings,
): Values<Settings> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    try {
      const text = textOf(env, name);
      if (text !== undefined) values[name] = setting.parse(text);
      else if (setting.required) faults.push(`${name} is not set (${setting.doc})`);
      else values[name] = setting.fallback;
    } catch (error) {
      faults.push(`${name} ${error instanceof Error ? error.message : 'cannot be read'}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return values as Values<Settings>;
}

function textOf(env: Environment, name: string): string | undefined {
  const file = env[`${name}_FILE`];
  if (env[name] !== undefined && env[name] !== '') return env[name];
  if (file === undefined || file === '') return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Error(`cannot be read from the file that ${name}_FILE names`);
  }
}

function declare<Value>(
  doc: string,
  fallback: Value | undefined,
  parse: (text: string) => Value,
  kind: { required?: boolean; secret?: boolean } = {},
): Setting<Value> {
  return { doc, fallback, required: kind.required ?? false, secret: kind.secret ?? false, parse };
}

export const text = (doc: string, fallback: string): Setting<string> =>
  declare(doc, fallback, (value) => value);

export const optionalText = (doc: string): Setting<string | undefined> =>
  declare<string | undefined>(doc, undefined, (value) => value);

export const optionalUrl = (doc: string): Setting<string | undefined> =>
  declare<string | undefined>(doc, undefined, (value) => {
    if (!/^https?:\/\//.test(value) || !URL.canParse(value)) {
      throw new Error('must be an http or https URL');
    }
    return value;
  });

export const requiredText = (doc: string): Setting<string> =>
  declare<string>(doc, undefined, (value) => value, { required: true });

export const requiredSecret = (doc: string): Setting<Secret> =>
  declare<Secret>(doc, undefined, (value) => new Secret(value), { required: true, secret: true });

export const optionalSecret = (doc: string): Setting<Secret | undefined> =>
  declare<Secret | undefined>(doc, undefined, (value) => new Secret(value), { secret: true });

export const integer = (doc: string, fallback: number, range: Range): Setting<number> => ({
  ...declare(doc, fallback, (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < range.min || number > range.max) {
      throw new Error(`must be a whole number from ${range.min} to ${range.max}`);
    }
    return number;
  }),
  range,
});

export const port = (doc: string, fallback: number): Setting<number> => {
  const free = `${doc}; 0: any free port, which the log tells`;
  const { range: _, ...setting } = integer(free, fallback, { min: 0, max: 65_535 });
  return setting;
};

/** Unset: nothing listens. */
export const optionalPort = (doc: string): Setting<number | undefined> => ({
  ...port(doc, 0),
  fallback: undefined,
});

export const flag = (doc: string, fallback: boolean): Setting<boolean> =>
  declare(doc, fallback, (value) => {
    if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
    return value === 'true';
  });

/** A comma-separated list; blanks around the parts are ignored. */
export const list = (doc: string, fallback: readonly string[]): Setting<readonly string[]> =>
  declare(doc, fallback, (value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );

export const requiredList = (doc: string): Setting<readonly string[]> => ({
  ...list(doc, []),
  required: true,
});
