import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { isEntry, type Bundle } from './bundle';

/** A place in a file of the author, counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A place in the code that was sent. */
export interface CodePlace {
  readonly line: number;
  readonly column: number;
}

/** Says where in the files of the author a place of the bundle is. */
export class Positions {
  readonly #map: SourceMap | undefined;

  constructor(
    private readonly root: string,
    private readonly bundle: Pick<Bundle, 'file' | 'map' | 'inputs'>,
  ) {
    const { map } = bundle;
    this.#map = map ? new SourceMap(JSON.parse(map) as SourceMapPayload) : undefined;
  }

  /** Undefined for what the bundler has added. */
  placeOf({ line, column }: CodePlace): Place | undefined {
    if (!this.#map) return { file: this.bundle.file, line, column };
    const found = this.#map.findEntry(line - 1, column - 1);
    if (!('originalSource' in found) || !found.originalSource) return undefined;
    const { originalSource: file, originalLine, originalColumn } = found;
    if (isEntry(file)) return undefined;
    return { file, line: originalLine + 1, column: originalColumn + 1 };
  }

  /** Stacks in the text name the files of the author. */
  inText(text: string): string {
    return text.replace(/\breactor\.js:(\d{1,7}):(\d{1,7})/g, (found, line, column) => {
      const place = this.placeOf({ line: Number(line), column: Number(column) });
      return place ? `${place.file}:${place.line}:${place.column}` : found;
    });
  }

  /** The line of the source, and a mark below its column. */
  excerpt({ file, line, column }: Place): string | undefined {
    // The source map of a package may name any file.
    if (!this.bundle.inputs.includes(file)) return undefined;
    const text = readFileSync(join(this.root, file), 'utf8').split('\n')[line - 1];
    if (text === undefined || text.length > 300) return undefined;
    const indent = text.slice(0, column - 1).replace(/[^\t]/g, ' ');
    const number = `${line} | `;
    return `${number}${text}\n${' '.repeat(number.length)}${indent}^`;
  }
}
