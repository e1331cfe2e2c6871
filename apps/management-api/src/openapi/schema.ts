/** A schema object of OpenAPI 3.0. */
export type Schema = Readonly<Record<string, unknown>>;
export type Schemas = Readonly<Record<string, Schema>>;

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** An object with required members (`always`) and optional ones. */
export const object = (always: Schemas, sometimes: Schemas = {}): Schema => ({
  type: 'object',
  properties: { ...always, ...sometimes },
  ...(Object.keys(always).length === 0 ? {} : { required: Object.keys(always) }),
});

/** A list of at most so many entries. */
export const listOf = (items: Schema, maxItems: number): Schema => ({
  type: 'array',
  maxItems,
  items,
});
export const oneOf = (values: readonly string[]): Schema => ({ type: 'string', enum: values });
export const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

export const text: Schema = { type: 'string' };
export const uuid: Schema = { type: 'string', format: 'uuid' };
export const instant: Schema = { type: 'string', format: 'date-time' };
export const flag: Schema = { type: 'boolean' };

/** Headers of answers. */
export const headers = {
  'SVC-TRACE-ID': { description: 'Names the call.', schema: text },
  'SVC-IDEMPOTENT-REPLAY': {
    description: 'The call was made before, and is answered again.',
    schema: oneOf(['true']),
  },
  'SVC-UNKNOWN-MEMBERS': {
    description: 'The first ten members of the body that nothing reads, then the number of others.',
    schema: text,
  },
  'SVC-PROXY-DESTINATION-STATUS': {
    description: 'The status of the destination, where it answered.',
    schema: { type: 'integer', minimum: 100, maximum: 599 },
  },
  ETag: { description: 'The version of the resource, for If-Match.', schema: text },
  'Retry-After': {
    description: 'Seconds after which the call may be repeated.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const satisfies Schemas;

export const headersOf = (...names: readonly (keyof typeof headers)[]): Schemas =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const whole: Schema = { type: 'integer' };
/** Any JSON, null included. */
export const json: Schema = {};
