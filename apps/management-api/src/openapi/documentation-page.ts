import { createHash } from 'node:crypto';
import {
  curlOf,
  typescriptOf,
  type Media,
  type Operation,
  type PlacedOperation,
} from './call-samples';
import type { OpenApiDocument } from './document';
import type { Schema } from './schema';

/** Renders the document as one page that fetches nothing. Its script searches, and nothing needs it. */
export function documentationPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): PlacedOperation => ({
      method,
      path,
      operation: operation as unknown as Operation,
    })),
  );
  const parts = document.tags
    .map((tag) => ({
      ...tag,
      inside: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
    }))
    .filter(({ inside }) => inside.length > 0);
  const contents = parts.map(
    ({ name, inside }) => `<h2><a href="#${anchor(name)}">${escape(name)}</a></h2>
<ul>${inside.map(showEntry).join('')}</ul>`,
  );
  const sections = parts.map(
    ({ name, description, inside }) => `<h2 id="${anchor(name)}">${escape(name)}</h2>
<p>${escape(description)}</p>
${inside.map((one) => showOperation(document, one)).join('\n')}`,
  );
  const schemas = Object.entries(document.components.schemas ?? {}).map(
    ([name, schema]) =>
      `<section id="schema-${name}"><h3>${escape(name)}</h3>${showSchema(schema)}</section>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(document.info.title)} API</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>
<nav aria-label="Operations"><input type="search" placeholder="Search ( / )" aria-label="Search operations and schemas">
<p role="status"></p>
${contents.join('\n')}
<h2><a href="#schemas">Schemas</a></h2></nav>
<main><h1>${escape(document.info.title)} API</h1>
${document.info.description
  .split('\n\n')
  .map((part) => `<p>${prose(part)}</p>`)
  .join('\n')}
<p>For machines: <a href="/docs/openapi.json">/docs/openapi.json</a>. The rules behind the operations are
in <code>docs/reference/</code> of the repository: resources, invocation, runs, expressions, errors, webhooks, limits.
<code>glovebox</code> in the samples is <code>new Glovebox()</code> of <code>@glovebox/client</code>.</p>
${sections.join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.join('\n')}
</main><script>${script}</script></body></html>
`;
}

const style = `*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;margin:0;display:grid;grid-template-columns:20rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid #ccc}
main{max-width:64rem;padding:1rem 2rem}nav h2{font-size:1rem;margin:1rem 0 .25rem}nav ul{list-style:none;margin:0;padding:0}
nav li{font-size:.85rem;overflow-wrap:anywhere}nav input{width:100%;font:inherit;padding:.25rem .5rem}nav p{margin:.25rem 0;min-height:1.5em;font-size:.85rem}
section{border:1px solid #ccc;border-radius:4px;margin:1rem 0;padding:.5rem 1rem;overflow-x:auto}section:target{outline:3px solid #47c}
main h2{margin-top:3rem}h3{margin:.5rem 0;font-size:1.05rem;overflow-wrap:anywhere}h4{margin:.75rem 0 .25rem;font-size:.9rem}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{background:#f4f4f4;padding:.75rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}td{border-top:1px solid #ddd;padding:.25rem .5rem;text-align:left;vertical-align:top}
a{color:#0550ae}.method{font-weight:600}[hidden]{display:none}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;max-height:40vh;border:0;border-bottom:1px solid #ccc}main{padding:1rem}}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8cf}pre{background:#222}}`;

/** Shows what has all the words. Its own text says what a section has. */
const script = `const box=document.querySelector('input'),told=document.querySelector('[role=status]');
const sections=[...document.querySelectorAll('section')].map((one)=>[one,one.textContent.toLowerCase(),document.querySelector('nav a[href="#'+one.id+'"]')]);
const search=()=>{const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);let found=0;
for(const [one,text,link] of sections){const fits=words.every((word)=>text.includes(word));one.hidden=!fits;if(link)link.parentElement.hidden=!fits;if(fits)found+=1}
told.textContent=words.length?found+' found':''};
box.addEventListener('input',search);
addEventListener('keydown',(event)=>{if(event.key==='/'&&event.target!==box){event.preventDefault();box.focus()}});
addEventListener('hashchange',()=>{const one=document.getElementById(decodeURIComponent(location.hash.slice(1)));if(one?.hidden){box.value='';search();one.scrollIntoView()}})`;

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows the page its own style, its own script and nothing else. */
export const pagePolicy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const showEntry = ({ method, path, operation }: PlacedOperation): string =>
  `<li><a href="#${operation.operationId}" title="${escape(operation.summary)}"><span class="method">${method.toUpperCase()}</span> ${escape(path)}</a></li>`;

function showOperation(document: OpenApiDocument, placed: PlacedOperation): string {
  const { method, path, operation } = placed;
  const parameters = (operation.parameters ?? []).map((one) => resolved(document, one));
  const rows = parameters.map(
    (one) =>
      `<tr><td><code>${escape(one.name)}</code></td><td>${escape(one.in)}</td>
<td>${typeOf(one.schema as Schema)}</td><td>${prose(one.description ?? '')}</td></tr>`,
  );
  const bodies = Object.entries(operation.requestBody?.content ?? {}).map(
    ([type, media]) => `<p>Body, <code>${escape(type)}</code>: ${typeOf(media.schema)}</p>`,
  );
  const answers = Object.entries(operation.responses).map(([status, response]) => {
    const { description, content } = resolved(document, response);
    const [media] = Object.values((content ?? {}) as Record<string, Media>);
    return `<tr><td>${escape(status)}</td><td>${prose(description)}</td>
<td>${media ? typeOf(media.schema) : ''}</td></tr>`;
  });
  const shown = Object.values(operation.responses).flatMap((response) => {
    const { content } = resolved(document, response);
    return Object.values((content ?? {}) as Record<string, Media>).map(({ example }) => example);
  });
  const example = shown.find((one) => one !== undefined);
  return `<section id="${operation.operationId}"><h3><span class="method">${method.toUpperCase()}</span>
<code>${escape(path)}</code> <a href="#${operation.operationId}">${escape(operation.summary)}</a></h3>
<p>${prose(operation.description)}</p>
${rows.length === 0 ? '' : `<table>${rows.join('\n')}</table>`}
${bodies.join('\n')}
<h4>curl</h4><pre>${escape(curlOf(placed))}</pre>
<h4>TypeScript</h4><pre class="ts">${escape(typescriptOf(document, placed))}</pre>
<h4>Answers</h4>${example === undefined ? '' : `<pre>${escape(JSON.stringify(example, null, 2))}</pre>`}
<table>${answers.join('\n')}</table></section>`;
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
