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

export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const oneOf = (values: readonly string[]): Schema => ({ type: 'string', enum: values });
export const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

export const text: Schema = { type: 'string' };
export const uuid: Schema = { type: 'string', format: 'uuid' };
export const instant: Schema = { type: 'string', format: 'date-time' };
export const flag: Schema = { type: 'boolean' };

/** The header of answers to a POST with an idempotency key that was sent before. */
export const replayHeaderSchemas = {
  'SVC-IDEMPOTENT-REPLAY': { schema: { type: 'string', enum: ['true'] } },
} as const;

/** The header of answers to a body with members that nothing reads. */
export const unknownMembersHeader = {
  'SVC-UNKNOWN-MEMBERS': {
    description: 'The first ten members of the body that nothing reads, then the number of others.',
    schema: text,
  },
} as const;

/** The header of answers that show or change a resource which has versions. */
export const tagHeader = {
  ETag: { description: 'The version of the resource, for If-Match.', schema: text },
} as const;

export const whole: Schema = { type: 'integer' };
/** Any JSON, null included. */
export const json: Schema = {};
