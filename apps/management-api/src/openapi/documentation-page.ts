import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './document';
import type { Schema } from './schema';

/** Renders the document as one page that fetches nothing and runs no script. */
export function documentationPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation: operation as unknown as Operation,
    })),
  );
  const sections = document.tags.map(({ name, description }) => {
    const inside = operations.filter(({ operation }) => operation.tags.includes(name));
    if (inside.length === 0) return '';
    return `<h2 id="${anchor(name)}">${escape(name)}</h2><p>${escape(description)}</p>
${inside.map((one) => showOperation(document, one)).join('\n')}`;
  });
  const contents = document.tags
    .filter(({ name }) => operations.some(({ operation }) => operation.tags.includes(name)))
    .map(({ name }) => `<a href="#${anchor(name)}">${escape(name)}</a>`);
  const schemas = Object.entries(document.components.schemas ?? {}).map(
    ([name, schema]) =>
      `<details id="schema-${name}"><summary>${escape(name)}</summary>${showSchema(schema)}</details>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(document.info.title)} API</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>
<h1>${escape(document.info.title)} API</h1>
${document.info.description
  .split('\n\n')
  .map((part) => `<p>${prose(part)}</p>`)
  .join('\n')}
<p>For machines: <a href="/docs/openapi.json">/docs/openapi.json</a>. The rules behind the operations are
in <code>docs/reference/</code> of the repository: resources, invocation, runs, expressions, errors, webhooks, limits.</p>
<nav>${contents.join(' ')} <a href="#schemas">Schemas</a></nav>
${sections.join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.join('\n')}
</body></html>
`;
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:3rem}details{border:1px solid #ccc;border-radius:4px;margin:.5rem 0;padding:.5rem .75rem}
summary{cursor:pointer}code,pre{font:14px/1.4 ui-monospace,monospace}
pre{background:#f4f4f4;padding:.75rem;overflow:auto}table{border-collapse:collapse;width:100%}
td,th{border-top:1px solid #ddd;padding:.25rem .5rem;text-align:left;vertical-align:top}
.method{display:inline-block;min-width:4.5rem;font-weight:600}nav a{margin-right:.75rem}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8cf}pre{background:#222}}`;

/** Allows the page its own style and nothing else. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256')
  .update(style)
  .digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Schema[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Schema>>;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
}

function showOperation(
  document: OpenApiDocument,
  { method, path, operation }: { method: string; path: string; operation: Operation },
): string {
  const parameters = (operation.parameters ?? []).map((one) => resolved(document, one));
  const rows = parameters.map(
    (one) =>
      `<tr><td><code>${escape(one.name)}</code></td><td>${escape(one.in)}</td>
<td>${typeOf(one.schema as Schema)}</td><td>${prose(one.description ?? '')}</td></tr>`,
  );
  const body = Object.entries(operation.requestBody?.content ?? {}).map(
    ([type, media]) => `<p>Body, <code>${escape(type)}</code>: ${typeOf(media.schema)}</p>
${media.example === undefined ? '' : `<pre>${escape(JSON.stringify(media.example, null, 2))}</pre>`}`,
  );
  const answers = Object.entries(operation.responses).map(([status, response]) => {
    const { description, content } = resolved(document, response);
    const [media] = Object.values((content ?? {}) as Record<string, Media>);
    return `<tr><td>${escape(status)}</td><td>${prose(description)}</td>
<td>${media ? typeOf(media.schema) : ''}</td></tr>`;
  });
  return `<details id="${operation.operationId}"><summary><span class="method">${method.toUpperCase()}</span>
<code>${escape(path)}</code> ${escape(operation.summary)}</summary>
<p>${prose(operation.description)}</p>
${rows.length === 0 ? '' : `<table>${rows.join('\n')}</table>`}
${body.join('\n')}
<table>${answers.join('\n')}</table></details>`;
}

function showSchema(schema: Schema): string {
  const required = new Set((schema.required ?? []) as string[]);
  const rows = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(
    ([name, member]) =>
      `<tr><td><code>${escape(name)}</code></td><td>${typeOf(member)}${limitsOf(member)}</td>
<td>${required.has(name) ? '' : 'optional'}</td><td>${prose(member.description ?? '')}</td></tr>`,
  );
  const { description = '', example } = schema;
  return `<p>${prose(description)}</p><table>${rows.join('\n')}</table>
${example === undefined ? '' : `<pre>${escape(JSON.stringify(example, null, 2))}</pre>`}`;
}

function typeOf(schema: Schema): string {
  const { $ref: reference, type, items, additionalProperties, format } = schema;
  if (typeof reference === 'string') {
    const name = reference.split('/').at(-1) ?? '';
    return `<a href="#schema-${name}">${escape(name)}</a>`;
  }
  const choices = [schema.allOf ?? schema.anyOf ?? schema.oneOf ?? []].flat() as Schema[];
  if (choices.length > 0) return choices.map(typeOf).join(' or ');
  if (type === 'array') return `list of ${typeOf(items as Schema)}`;
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `map to ${typeOf(additionalProperties as Schema)}`;
  }
  return escape(format ?? type ?? 'any JSON');
}

const limitNames = ['enum', 'minLength', 'maxLength', 'minimum', 'maximum', 'maxItems', 'pattern'];

function limitsOf(schema: Schema): string {
  const limits = limitNames
    .filter((name) => schema[name] !== undefined)
    .map((name) => `${name} <code>${escape([schema[name]].flat().join(', '))}</code>`);
  return limits.length === 0 ? '' : `; ${limits.join('; ')}`;
}

function resolved(document: OpenApiDocument, schema: Schema): Schema {
  const [, , kind = '', name = ''] = String(schema.$ref ?? '').split('/');
  return document.components[kind]?.[name] ?? schema;
}

const anchor = (name: string): string => name.toLowerCase().replaceAll(' ', '-');
const prose = (value: unknown): string => escape(value).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

function escape(value: unknown): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  return String(value).replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
}
