import { Ajv, type ValidateFunction } from 'ajv';
import type { Response } from 'supertest';
import { isUuid } from '../validation/uuid';
import type { OpenApiDocument } from './document';
import type { Schema } from './schema';

/** Checks answers against the document: each is declared, with all its members and no other. */
export class Conformance {
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #ajv = new Ajv({ strict: false, allErrors: true });
  readonly #document: OpenApiDocument;

  /** Nearly every spec makes one: what no answer needs is left as it is. */
  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv.addFormat('uuid', isUuid);
    this.#ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
    this.#ajv.addFormat('uri', (value: string) => URL.canParse(value));
    this.#ajv.addFormat('date-time', (value: string) => !Number.isNaN(Date.parse(value)));
    const { schemas } = document.components;
    this.#ajv.addSchema({ $id: 'document', components: { schemas: closed(schemas) } });
  }

  /** Throws if the document does not declare the answer. */
  check(answer: Response): void {
    const { method, path } = (answer as unknown as { req: { method: string; path: string } }).req;
    const operation = this.#operation(method.toLowerCase(), path);
    if (!operation) return;
    const name = `${method} ${path.split('?')[0]} ${answer.status}`;
    const responses = operation.responses as Record<string, Schema>;
    const declared = responses[answer.status] ?? responses.default;
    if (!declared) throw new Error(`${name} is not declared in src/openapi/operations.ts`);
    const response = this.#resolved(declared);
    const content = response.content as Record<string, { schema: Schema }> | undefined;
    const schema = content?.['application/json']?.schema;
    if (!schema) {
      if (answer.text !== '') throw new Error(`${name} declares no body and has one`);
      return;
    }
    const wrong = this.faults(schema, answer.body);
    if (wrong)
      throw new Error(`${name} is not as src/openapi/answer-schemas.ts declares it: ${wrong}`);
    const { code = '' } = (answer.body ?? {}) as { code?: string };
    if (answer.status >= 400 && !codesOf(response).includes(code)) {
      throw new Error(`${name} ${code} is not declared in src/openapi/operation-errors.ts`);
    }
  }

  /** Returns the faults of a value, or undefined. It quotes no value. */
  faults(schema: Schema, value: unknown): string | undefined {
    const key = JSON.stringify(schema);
    const validator =
      this.#validators.get(key) ?? this.#ajv.compile(inDocument(closed(schema)) as Schema);
    this.#validators.set(key, validator);
    if (validator(value)) return undefined;
    return (validator.errors ?? [])
      .map(({ instancePath, message, params }) => {
        const { additionalProperty = '' } = params as { additionalProperty?: string };
        return `${instancePath} ${message} ${additionalProperty}`.trim();
      })
      .join('; ');
  }

  #operation(method: string, path: string): Schema | undefined {
    const [plain = ''] = path.split('?');
    const segments = plain.replace(/\/+$/, '').split('/');
    const fits = (template: string): boolean => {
      const wanted = template.split('/');
      return (
        wanted.length === segments.length &&
        wanted.every((one, index) => one.startsWith('{') || one === segments[index])
      );
    };
    const found = Object.keys(this.#document.paths)
      .filter(fits)
      .sort((a, b) => a.split('{').length - b.split('{').length);
    const [template = ''] = found;
    return this.#document.paths[template]?.[method];
  }

  #resolved(response: Schema): Schema {
    const name =
      String(response.$ref ?? '')
        .split('/')
        .at(-1) ?? '';
    return this.#document.components.responses?.[name] ?? response;
  }
}

/** The codes that a response has examples of. */
function codesOf({ content = {} }: Schema): string[] {
  const media = Object.values(content as Record<string, { examples?: object }>);
  return media.flatMap(({ examples = {} }) => Object.keys(examples));
}

/** Forbids members that are not declared: clients must ignore them, specs must not. */
function closed(value: unknown): unknown {
  return mapped(value, (members) =>
    members.type === 'object' && members.properties && !('additionalProperties' in members)
      ? { ...members, additionalProperties: false }
      : members,
  );
}

/** Makes the references of a schema point into the document. */
function inDocument(value: unknown): unknown {
  return mapped(value, (members) =>
    typeof members.$ref === 'string' && members.$ref.startsWith('#')
      ? { $ref: `document${members.$ref}` }
      : members,
  );
}

function mapped(value: unknown, change: (members: Record<string, unknown>) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, mapped(member, change)]),
    ),
  ) as unknown;
}
