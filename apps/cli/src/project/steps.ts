import { Secret, type Path, type YamlFile } from './yaml-file';

type Json = Readonly<Record<string, unknown>>;

const lists = ['request_transforms', 'response_transforms'] as const;

/** What a step appends may be a secret. It stands in files as `!env`, `!file` or `!keep`. */
interface Appended {
  readonly options: Json;
  /** Tells a value from those of other steps: by its list, where it goes, and which one it is there. */
  readonly place: string;
  readonly path: Path;
}

/** Stands for a value that is stored, or that nobody reads. */
const unsaid = ({ value: _, ...options }: Json): Json => ({ ...options, value_set: true });

/** The steps of the members, with other options for those that append. */
function mapAppended(members: Json, change: (appended: Appended) => Json): Json {
  const changed = lists.flatMap((list) => {
    const steps = members[list];
    if (!Array.isArray(steps)) return [];
    const counts = new Map<string, number>();
    const mapped = steps.map((step: unknown, at) => {
      if (!appends(step)) return step;
      const { location, name, path } = step.options;
      const goesTo = JSON.stringify([list, location, location === 'body' ? path : name]);
      const nth = counts.get(goesTo) ?? 0;
      counts.set(goesTo, nth + 1);
      const place = `${goesTo} ${nth}`;
      const options = change({
        options: step.options,
        place,
        path: [list, at, 'options', 'value'],
      });
      return { ...step, options };
    });
    return [[list, mapped] as const];
  });
  return Object.fromEntries(changed);
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !(value instanceof Secret);

const appends = (step: unknown): step is { readonly options: Json } =>
  isObject(step) && step.type === 'append' && isObject(step.options);

/** The steps as they are sent. Without `read`, no value is read. */
export const sentSteps = (
  members: Json,
  read: ((path: Path, secret: Secret) => string | undefined) | undefined,
): Json =>
  mapAppended(members, ({ options, path }) => {
    if (!hasSecret(options.value)) return options;
    if (read === undefined || isKept(options.value)) return unsaid(options);
    return { ...options, value: filledIn(options.value, path, read) };
  });

const isKept = (value: unknown): boolean => value instanceof Secret && value.from === 'keep';

/** Whether a step keeps the value that is stored. */
export const keepsValues = (members: Json): boolean => [...valuesOf(members).values()].some(isKept);

function filledIn(
  value: unknown,
  path: Path,
  read: (path: Path, secret: Secret) => string | undefined,
): unknown {
  if (value instanceof Secret) return read(path, value);
  if (Array.isArray(value)) return value.map((one, at) => filledIn(one, [...path, at], read));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, filledIn(one, [...path, name], read)]),
  );
}

const hasSecret = (value: unknown): boolean =>
  value instanceof Secret || (isObject(value) && Object.values(value).some(hasSecret));

/** What the files say of the values, by their places. */
export function valuesOf(members: Json): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  mapAppended(members, ({ options, place }) => {
    values.set(place, options.value);
    return options;
  });
  return values;
}

/** Deployed steps without their values, except where a file holds one in the open. */
export function withoutValues(deployed: Json, files: Json | undefined): Json {
  const written = valuesOf(files ?? {});
  const isOpen = (place: string): boolean => written.has(place) && !hasSecret(written.get(place));
  return mapAppended(deployed, ({ options, place }) => (isOpen(place) ? options : unsaid(options)));
}

/** Steps for a file: in the place of a value, how it is found. */
export const stepsForFile = (members: Json, foundBy: (place: string) => unknown): Json =>
  mapAppended(members, ({ options, place }) => {
    const { value_set: isUnsaid, ...others } = options;
    return isUnsaid === true ? { ...others, value: foundBy(place) } : options;
  });

/** No other member of a file is read from elsewhere, and a part of a value is not stored alone. */
export function refuseOtherSecrets(yaml: YamlFile, members: Json): void {
  const known = mapAppended(members, ({ options: { value, ...options }, path }) => {
    if (!isKept(value)) refuse(value, path, (secret) => secret.from === 'keep');
    return options;
  });
  refuse({ ...members, ...known }, [], () => true);

  function refuse(value: unknown, path: Path, isWrong: (secret: Secret) => boolean): void {
    if (value instanceof Secret) {
      if (!isWrong(value)) return;
      throw yaml.failAt(path, `!${value.from} cannot stand here`);
    }
    if (!isObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      refuse(inner, [...path, Array.isArray(value) ? Number(name) : name], isWrong);
    }
  }
}
