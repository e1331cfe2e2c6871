import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bundle } from '../project/bundle';

interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** A source map that a debugger finds the files of the author by: a `data:` URL. */
export function givenMapOf(root: string, bundle: Bundle): string {
  const { sources, ...others } = mapOf(bundle);
  const isOfAuthor = (name: string): boolean => bundle.inputs.includes(name);
  const map = {
    ...others,
    version: 3,
    // The source map of a package may name any file, which a debugger would then open.
    sources: sources.map((name) =>
      isOfAuthor(name) ? pathToFileURL(join(root, name)).href : `bundled:///${encodeURI(name)}`,
    ),
    sourcesContent: sources.map((name) => (isOfAuthor(name) ? textOf(root, name) : null)),
  };
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
  return `data:application/json;charset=utf-8;base64,${encoded}`;
}

function mapOf({ map, file, code }: Bundle): SourceMap {
  if (map !== undefined) return JSON.parse(map) as SourceMap;
  // The same line of the same file, one after the other.
  const mappings = code.split('\n').map((_, line) => (line === 0 ? 'AAAA' : 'AACA'));
  return { sources: [file], mappings: mappings.join(';') };
}

/** Null: the debugger reads the file itself, if it can. */
function textOf(root: string, name: string): string | null {
  try {
    return readFileSync(join(root, name), 'utf8');
  } catch {
    return null;
  }
}
