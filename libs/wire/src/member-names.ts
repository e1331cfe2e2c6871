/** Our JSON names members in snake_case, our code in camelCase. */
export const wireName = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type WireName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : Name;

/** The same members as our JSON has them: renamed, dates as texts. Their values stay as they are. */
export type OnWire<Shape> = {
  [Name in keyof Shape as WireName<Name & string>]: Shape[Name] extends Date | undefined
    ? string
    : Shape[Name];
};

export function toWire<Shape extends object>(shape: Shape): OnWire<Shape> {
  const members = Object.entries(shape).map(([name, value]: [string, unknown]) => [
    wireName(name),
    value instanceof Date ? value.toISOString() : value,
  ]);
  return Object.fromEntries(members) as OnWire<Shape>;
}

/** Picks the named members of a JSON object, under the names that they have in our code. */
export function fromWire<Name extends string>(
  names: readonly Name[],
  value: object,
): { readonly [Each in Name]?: unknown } {
  const given = names.filter((name) => Object.hasOwn(value, wireName(name)));
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(given.map((name) => [name, members[wireName(name)]])) as {
    readonly [Each in Name]?: unknown;
  };
}
