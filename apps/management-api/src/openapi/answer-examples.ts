import { answers } from './answer-schemas';
import type { Schema, Schemas } from './schema';

/** An example of what a schema describes: its own, or one made of those of its parts. */
export function exampleOf(schema: Schema): unknown {
  if (schema.example !== undefined) return schema.example;
  if (typeof schema.$ref === 'string') {
    const named = answers[schema.$ref.split('/').at(-1) ?? ''];
    return named && exampleOf(named);
  }
  if (schema.type === 'array') return [exampleOf(schema.items as Schema)];
  const members = Object.entries((schema.properties ?? {}) as Schemas);
  if (members.length === 0) return undefined;
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member)]));
}
