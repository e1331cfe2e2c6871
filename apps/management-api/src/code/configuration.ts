import { numberOf } from '@glovebox/wire';
import type { Sealer, Place } from '@glovebox/seal';
import type { ConfigurationEntry } from '../entities/reactor-formula.entity';

/** UTF-8 bytes of names and values. Every process of the data plane holds them in memory. */
export const configurationBytesMax = 64 * 1024;

export type Configuration = Readonly<Record<string, string>>;

/** Configuration values are strings. Numbers and booleans are accepted and kept as strings. */
export function toConfiguration(
  input: Readonly<Record<string, string | number | boolean>>,
): Configuration {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)]));
}

/** Requires exactly the declared names, each with a value that casts to its type. */
export function configurationErrors(
  declared: readonly ConfigurationEntry[],
  configuration: Configuration,
): Record<string, string[]> {
  const types = new Map(declared.map(({ name, type }) => [name, type]));
  const missing = declared.filter(({ name }) => !Object.hasOwn(configuration, name));
  const unknown = Object.keys(configuration).filter((name) => !types.has(name));
  const wrong = Object.entries(configuration).filter(([name, value]) => {
    const type = types.get(name);
    return type !== undefined && !casts(value, type);
  });
  return {
    ...errorsFor(
      missing.map(({ name }) => name),
      'is required',
    ),
    ...errorsFor(unknown, 'is not declared by the formula'),
    ...Object.fromEntries(
      wrong.map(([name]) => [`configuration.${name}`, [`must be a ${types.get(name)}`]]),
    ),
  };
}

function errorsFor(names: readonly string[], message: string): Record<string, string[]> {
  return Object.fromEntries(names.map((name) => [`configuration.${name}`, [message]]));
}

function casts(value: string, type: ConfigurationEntry['type']): boolean {
  switch (type) {
    case 'string':
      return true;
    case 'number':
      return numberOf(value) !== undefined;
    case 'boolean':
      return /^(?:true|false)$/i.test(value);
  }
}

export function sealConfiguration(
  sealer: Sealer,
  place: Place,
  configuration: Configuration,
): Promise<Buffer> {
  return sealer.seal(place, JSON.stringify(configuration));
}

export async function openConfiguration(
  sealer: Sealer,
  place: Place,
  sealed: Buffer,
): Promise<Configuration> {
  return JSON.parse((await sealer.open(place, sealed)).toString('utf8')) as Configuration;
}
