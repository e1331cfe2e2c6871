import type { ApplicationType, Permission, Transform } from '@glovebox/access';
import type { Isolation, Runtime } from '@glovebox/sandbox';
import type { Definition, ParameterType, TransformDefinition, TransformStep } from './definition';

/**
 * The table of all that definitions may hold, with the version since which readers understand it
 * (docs/adr/0083). A new member, kind of step or word gets the `readerVersion` of its release. One
 * that is missing here does not compile, is not written, and is refused by readers.
 *
 * A member that is absent, null or an empty list needs no version. So each must mean what readers
 * did before there was such a member.
 */
interface Shape<Value> {
  (value: unknown): number;
  readonly of?: Value;
}

/** No reader that is known here understands the value. */
export const unknownVersion = Infinity;

const since =
  <Value>(version: number): Shape<Value> =>
  () =>
    version;

const words =
  <Word extends string>(versions: Readonly<Record<Word, number>>): Shape<Word> =>
  (word) =>
    (typeof word === 'string' && entryOf<number>(versions, word)) || unknownVersion;

const each =
  <Entry>(shape: Shape<Entry>): Shape<readonly Entry[]> =>
  (entries) =>
    Array.isArray(entries) ? highest(entries.map(shape)) : unknownVersion;

type MemberOf<Whole> = Whole extends unknown ? keyof Whole : never;
type ValueOf<Whole, Member> = Whole extends unknown
  ? Member extends keyof Whole
    ? Exclude<Whole[Member], null | undefined>
    : never
  : never;
type Shapes<Whole> = { readonly [Member in MemberOf<Whole>]: Shape<ValueOf<Whole, Member>> };

/** An object, or one of several whose members have the same meaning. */
const object =
  <Whole extends object>(shapes: Shapes<Whole>): Shape<Whole> =>
  (whole) =>
    isObject(whole)
      ? highest(
          Object.entries(whole).map(([member, value]) =>
            isUnused(value)
              ? 1
              : (entryOf<Shape<unknown>>(shapes, member)?.(value) ?? unknownVersion),
          ),
        )
      : unknownVersion;

type Variants<Name extends PropertyKey, Whole extends Record<Name, string>> = {
  readonly [Variant in Whole[Name]]: Shape<Extract<Whole, Record<Name, Variant>>>;
};

const variants =
  <Name extends string, Whole extends Record<Name, string>>(
    name: Name,
    shapes: Variants<Name, Whole>,
  ): Shape<Whole> =>
  (whole) => {
    const variant = isObject(whole) && whole[name];
    const shape = typeof variant === 'string' && entryOf<Shape<unknown>>(shapes, variant);
    return shape ? shape(whole) : unknownVersion;
  };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isUnused = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const entryOf = <Entry>(table: Readonly<Record<string, Entry>>, name: string): Entry | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const highest = (versions: readonly number[]): number =>
  versions.reduce((a, b) => Math.max(a, b), 1);

const runtime = words<Runtime>({ node16: 1, node20: 1, node22: 2, node24: 2 });
const isolation = words<Isolation>({ warm: 1, run: 1 });
const permission = words<Permission>({
  'reactor:create': 1,
  'reactor:read': 1,
  'reactor:update': 1,
  'reactor:delete': 1,
  'proxy:create': 1,
  'proxy:read': 1,
  'proxy:update': 1,
  'proxy:delete': 1,
  'deployment:create': 3,
  'deployment:read': 3,
  'application:create': 1,
  'application:read': 1,
  'application:update': 1,
  'application:delete': 1,
  'tenant:read': 1,
  'tenant:update': 1,
  'tenant:delete': 1,
  'log:read': 1,
  'token:create': 1,
  'token:update': 1,
  'token:read': 1,
  'token:search': 1,
  'token:delete': 1,
  'token:use': 1,
});

const code = object<TransformDefinition>({
  code: since(1),
  codeHash: since(1),
  bundleHash: since(3),
  runtime,
});

/** A reader of version 2 would send the text of an expression. */
const appendedValue: Shape<unknown> = (value) => (JSON.stringify(value).includes('{{') ? 3 : 2);

const place = words<'header' | 'query' | 'body'>({ header: 2, query: 2, body: 2 });
const step = variants<'type', TransformStep>('type', {
  mask: object({
    type: since(2),
    options: object({ path: since(2), required: since(2), expression: since(2) }),
  }),
  tokenize: object({
    type: since(2),
    options: object({
      path: since(2),
      required: since(2),
      token: object({
        // The vault knows the types, and a test of the management API writes a step with each.
        type: words<string>({
          token: 2,
          card: 2,
          bank: 2,
          card_number: 2,
          us_bank_account_number: 2,
          us_bank_routing_number: 2,
          social_security_number: 2,
          employer_id_number: 2,
        }),
        containers: since(2),
        mask: since(2),
        metadata: since(2),
        destinations: since(3),
        search_indexes: since(2),
        fingerprint_expression: since(2),
        deduplicate_token: since(2),
        expires_at: since(2),
      }),
    }),
  }),
  detokenize: object({
    type: since(2),
    options: object({ path: since(2), required: since(2), enabled: since(2) }),
  }),
  append: object({
    type: since(2),
    options: object({
      location: place,
      path: since(2),
      required: since(2),
      name: since(2),
      value: appendedValue,
    }),
  }),
  remove: object({
    type: since(2),
    options: object({ location: place, path: since(2), required: since(2), name: since(2) }),
  }),
});

const definition = variants<'kind', Definition>('kind', {
  tenant: object({
    kind: since(1),
    id: since(1),
    tenantId: since(1),
    settings: since(1),
    webhookSecrets: each(object({ secret: since(1), until: since(1) })),
  }),
  application: object({
    kind: since(1),
    id: since(1),
    tenantId: since(1),
    type: words<ApplicationType>({ private: 1, public: 1, management: 1 }),
    permissions: each(permission),
    rules: each(
      object({
        description: since(1),
        priority: since(1),
        container: since(1),
        transform: words<Transform>({ reveal: 1, mask: 1, redact: 1 }),
        permissions: each(permission),
        destinations: since(3),
      }),
    ),
    expiresAt: since(1),
    allowedOrigins: since(2),
    keys: each(object({ id: since(1), hash: since(1) })),
  }),
  formula: object({
    kind: since(1),
    id: since(1),
    tenantId: since(1),
    code: since(1),
    codeHash: since(1),
    bundleHash: since(3),
    runtime,
    requestParameters: each(
      object({
        name: since(1),
        type: words<ParameterType>({ string: 1, number: 1, boolean: 1, object: 1 }),
        optional: since(1),
        loggable: since(2),
      }),
    ),
  }),
  reactor: object({
    kind: since(1),
    id: since(1),
    tenantId: since(1),
    formulaId: since(1),
    applicationId: since(1),
    configuration: since(1),
    isolation,
  }),
  proxy: object({
    kind: since(1),
    id: since(1),
    tenantId: since(1),
    keyHash: since(1),
    destinationUrl: since(1),
    requireAuth: since(1),
    detokenize: since(1),
    requestTransform: code,
    responseTransform: code,
    requestSteps: each(step),
    responseSteps: each(step),
    applicationId: since(1),
    configuration: since(1),
    isolation,
    timeoutMs: since(1),
    tls: object({ certificate: since(2), privateKey: since(2), authority: since(2) }),
    allowedOrigins: since(2),
    scrub: since(3),
    match: object({ hosts: since(3), methods: since(3), paths: since(3) }),
    forwardTo: words<'request'>({ request: 3 }),
  }),
  capture: object({
    kind: since(3),
    id: since(3),
    tenantId: since(3),
    until: since(3),
    whole: since(3),
  }),
  authority: object({
    kind: since(3),
    id: since(3),
    tenantId: since(3),
    authorities: each(object({ certificate: since(3), privateKey: since(3), until: since(3) })),
  }),
});

/** The lowest version of a reader that understands all of the definition. */
export const versionNeeded = (value: unknown): number => definition(value);
