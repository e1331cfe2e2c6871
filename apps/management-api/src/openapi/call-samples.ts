import type { OpenApiDocument } from './document';
import type { Schema } from './schema';

/** An operation, as the document has it. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Schema[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Schema>>;
}

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Schema>>;
}

export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const anyId = '6f0d6d3a-5c0b-4b3e-9d0c-0a4c1e1f7a10';

/** The call as curl makes it. */
export function curlOf({ method, path, operation }: PlacedOperation): string {
  const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {});
  const isProxy = path.startsWith('/proxy');
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$BASE_URL${filledIn(path)}"`,
    `-H "SVC-API-KEY: $GLOVEBOX_KEY"`,
    ...(isProxy ? [`-H "SVC-PROXY-KEY: $PROXY_KEY"`] : []),
    ...(type ? [`-H "Content-Type: ${type}"`, `-d '${quoted(media?.example)}'`] : []),
  ];
  return lines.join(' \\\n  ');
}

const quoted = (example: unknown): string => JSON.stringify(example).replaceAll("'", "'\\''");

/** The call as `@glovebox/client` makes it. */
export function typescriptOf(document: OpenApiDocument, placed: PlacedOperation): string {
  const { method, path, operation } = placed;
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.example;
  if (path.startsWith('/proxy')) {
    const json = body === undefined ? '' : `, body: JSON.stringify(${literal(body)})`;
    const rest = filledIn(path).replace(/^\/proxy/, '');
    return `const answer = await glovebox.proxy('${rest}', { proxyKey, method: '${method.toUpperCase()}'${json} });`;
  }
  if (operation.operationId === 'invokeReactor') {
    return `const { raw } = await glovebox.react('${anyId}', ${literal(body)});`;
  }
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const params = names.map((name) => `${name}: '${anyId}'`);
  const parts = [
    ...(params.length > 0 ? [`params: { path: { ${params.join(', ')} } }`] : []),
    ...(body === undefined ? [] : [`body: ${literal(body)}`]),
  ];
  const args = [`'${path}'`, ...(parts.length > 0 ? [`{ ${parts.join(', ')} }`] : [])].join(', ');
  return isList(document, placed)
    ? `for await (const one of glovebox.each(${args})) console.log(one);`
    : `const answer = await glovebox.${method}(${args});`;
}

function isList(document: OpenApiDocument, { method, operation }: PlacedOperation): boolean {
  const { content } = (operation.responses[200] ?? {}) as { content?: Record<string, Media> };
  const name =
    String(content?.['application/json']?.schema.$ref ?? '')
      .split('/')
      .at(-1) ?? '';
  const members = (document.components.schemas?.[name]?.properties ?? {}) as object;
  return method === 'get' && 'pagination' in members;
}

const filledIn = (path: string): string =>
  path.replace('{path}', 'v1/charges').replaceAll(/\{\w+\}/g, anyId);

/** JSON as TypeScript writes it. */
const literal = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll(/"([A-Za-z_]\w*)": /g, '$1: ');
