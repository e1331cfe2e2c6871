import type { Work } from '@glovebox/expressions';
import { isTokenRequest } from '@glovebox/vault';
import { isJsonObject, UnknownMembers } from '@glovebox/wire';
import type { OpenApiDocument } from './document';
import { object, text, type Schema, type Schemas } from './schema';

/** Below these members all names are the caller's own. */
const ofCaller = new Set(['args', 'data', 'metadata', 'configuration', 'mask']);

const entriesLookedAt = 100;

/** OpenAPI 3.0 gives the body of a DELETE no meaning, so the document does not have it. */
const ofDeletions: Readonly<Record<string, readonly Schema[]>> = {
  'DELETE /tenants/self': [object({}, { name: text })],
};

/** Knows the members that bodies may have: those that the document lists. */
export class BodyMembers {
  readonly #known = new Map<string, readonly Schema[]>();

  constructor(private readonly document: OpenApiDocument) {}

  /**
   * Finds the members of a body that the operation does not know. `route` is a path of Express,
   * such as `/proxies/:id`. It may pause between entries of lists.
   */
  *unknownIn(method: string, route: string, body: unknown): Work<UnknownMembers> {
    const unknown = new UnknownMembers();
    const path = route.replaceAll(/:(\w+)/g, '{$1}');
    if (path === '/tokenize') yield* this.#lookForTokens(body, [], unknown);
    else yield* this.#look(body, this.#schemasOf(method, path), [], unknown);
    return unknown;
  }

  /** What the operation takes. What answers of the resource show may be sent back to it. */
  #schemasOf(method: string, path: string): readonly Schema[] {
    const name = `${method} ${path}`;
    const known = this.#known.get(name) ?? ofDeletions[name];
    if (known) return known;
    const operations = this.document.paths[path] ?? {};
    const body = operations[method.toLowerCase()]?.requestBody as Content | undefined;
    const isChange = method === 'PUT' || method === 'PATCH';
    const shown = isChange ? [operations.get, operations.put].map(answerOf) : [];
    const schemas = body ? [...schemasIn(body), ...shown.flatMap(schemasIn)] : [];
    this.#known.set(name, schemas);
    return schemas;
  }

  *#look(
    value: unknown,
    schemas: readonly Schema[],
    path: readonly string[],
    unknown: UnknownMembers,
  ): Work<void> {
    const fitting = schemas.flatMap((schema) => this.#fitting(schema, value));
    if (Array.isArray(value)) {
      const items = given(fitting.map((schema) => schema.items as Schema | undefined));
      if (items.length === 0) return;
      const max = Math.max(...fitting.map((schema) => Number(schema.maxItems ?? entriesLookedAt)));
      for (const [at, entry] of value.slice(0, max).entries()) {
        yield* this.#look(entry, items, [...path, String(at)], unknown);
        yield;
      }
      return;
    }
    const objects = fitting.filter(({ type }) => type === 'object');
    if (!isJsonObject(value) || objects.length === 0 || fitting.some(isOpen)) return;
    const properties = objects.map((schema) => (schema.properties ?? {}) as Schemas);
    const known = new Set(properties.flatMap(Object.keys));
    unknown.note(value, known, path);
    for (const name of known) {
      if (ofCaller.has(name) || !Object.hasOwn(value, name)) continue;
      const below = given(properties.map((some) => some[name]));
      yield* this.#look(value[name], below, [...path, name], unknown);
    }
  }

  /** A document to tokenize has names of the caller's own, but for the tokens in it. */
  *#lookForTokens(value: unknown, path: readonly string[], unknown: UnknownMembers): Work<void> {
    if (typeof value !== 'object' || value === null) return;
    if (isTokenRequest(value)) {
      yield* this.#look(value, this.#schemasOf('POST', '/tokens'), path, unknown);
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      yield* this.#lookForTokens(member, [...path, name], unknown);
    }
  }

  /** The schema itself, or those of its variants that the value is one of. */
  #fitting(schema: Schema, value: unknown): readonly Schema[] {
    const { $ref: ref, oneOf: variants } = schema;
    if (typeof ref === 'string') {
      const named = this.document.components.schemas?.[ref.split('/').at(-1) ?? ''];
      return named ? this.#fitting(named, value) : [];
    }
    if (!Array.isArray(variants)) return [schema];
    const all = (variants as Schema[]).flatMap((variant) => this.#fitting(variant, value));
    const fitting = all.filter((variant) => isOneOf(variant, value));
    return fitting.length > 0 ? fitting : all;
  }
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

const schemasIn = (described: Content | undefined): readonly Schema[] =>
  Object.values(described?.content ?? {}).map(({ schema }) => schema);

const answerOf = (operation: Schema | undefined): Content | undefined =>
  (operation?.responses as Readonly<Record<string, Content>> | undefined)?.[200];

const given = (schemas: readonly (Schema | undefined)[]): readonly Schema[] =>
  schemas.filter((one) => one !== undefined);

/** Takes any JSON, or any names. */
const isOpen = (schema: Schema): boolean =>
  schema.type === undefined || schema.additionalProperties !== undefined;

/** Whether the members that tell variants apart, such as `type`, are those of this one. */
function isOneOf({ enum: values, properties = {} }: Schema, value: unknown): boolean {
  if (Array.isArray(values)) return value === undefined || values.includes(value);
  const members = isJsonObject(value) ? value : {};
  return Object.entries(properties as Schemas).every(([name, schema]) =>
    isOneOf(schema, members[name]),
  );
}
