import { fieldsOf, type Dto } from '../validation/fields';
import { ref, type Schema } from './schema';

/** The schemas of bodies, read off the classes that they become. */
export class RequestSchemas {
  readonly all: Record<string, Schema> = {};

  /** The whole document, as POST and PUT take it. */
  add(dto: Dto): Schema {
    if (!Object.hasOwn(this.all, dto.name)) {
      const fields = fieldsOf(dto);
      const required = fields.filter(({ optional }) => !optional).map(({ name }) => name);
      this.all[dto.name] = {
        type: 'object',
        properties: Object.fromEntries(
          fields.map(({ name, schema, nested }) => [name, this.#member(schema, nested)]),
        ),
        ...(required.length === 0 ? {} : { required }),
      };
    }
    return ref(dto.name);
  }

  /** Any part of it: null takes away what may be missing. */
  addPatch(dto: Dto): Schema {
    const name = `${dto.name}Patch`;
    const description = 'RFC 7386: what is left out stays as it is, null removes.';
    this.all[name] = { ...this.#patch(dto), description };
    return ref(name);
  }

  #patch(dto: Dto): Schema {
    const members = fieldsOf(dto).map(({ name, schema, nested, optional }) => {
      const isList = schema.type === 'array';
      // In place: in OpenAPI 3.0 a reference cannot be made nullable.
      const member =
        nested && !isList ? this.#patch(nested()) : withNulls(this.#member(schema, nested));
      // A schema of any JSON takes null as it is.
      const isAny = member.type === undefined;
      return [name, optional && !isAny ? { ...member, nullable: true } : member] as const;
    });
    return { type: 'object', properties: Object.fromEntries(members) };
  }

  #member(schema: Schema, nested: (() => Dto) | undefined): Schema {
    if (!nested) return schema;
    const one = this.add(nested());
    return schema.type === 'array' ? { ...schema, items: one } : one;
  }
}

/** A map is patched name by name, and null takes a name away. */
function withNulls(schema: Schema): Schema {
  const values = schema.additionalProperties as Schema | undefined;
  if (!values) return schema;
  const kinds = (values.anyOf ?? [values]) as Schema[];
  const nullable = kinds.map((kind) => ({ ...kind, nullable: true }));
  return { ...schema, additionalProperties: { anyOf: nullable } };
}
