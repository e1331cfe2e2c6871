import {
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  stringify,
  visit,
  type Document,
  type ScalarTag,
} from 'yaml';
import { usage, type Failure } from '../failure';
import { readText } from './own-files';

export type Path = readonly (string | number)[];

/** Where a value comes from that no file holds. */
export class Secret {
  constructor(
    /** `keep`: what is stored stays. */
    readonly from: 'env' | 'file' | 'keep',
    /** The variable, or the path. */
    readonly name = '',
  ) {}
}

/** A tag by which a file names a value without holding it. */
function tagOf(from: Secret['from'], form: RegExp, needs: string): ScalarTag {
  return {
    tag: `!${from}`,
    identify: (value) => value instanceof Secret && value.from === from,
    resolve: (name: string, fail: (message: string) => void) => {
      if (!form.test(name)) fail(`!${from} needs ${needs}`);
      return new Secret(from, name);
    },
    stringify: ({ value }) => (value as Secret).name,
  };
}

const customTags: readonly ScalarTag[] = [
  tagOf('env', /^[A-Za-z_]\w*$/, 'the name of a variable: !env API_KEY'),
  tagOf('file', /./, 'the path of a file: !file secrets/api-key'),
  tagOf('keep', /^$/, 'nothing behind it'),
];

export const writeYaml = (value: unknown): string =>
  stringify(value, { customTags: [...customTags], lineWidth: 100 }).replace(/ +$/gm, '');

/** A file whose members know their lines. */
export class YamlFile {
  readonly value: unknown;
  readonly #document: Document.Parsed;
  readonly #lines = new LineCounter();

  constructor(
    /** Relative to the project, for people. */
    readonly name: string,
    text: string,
  ) {
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      customTags: [...customTags],
      prettyErrors: false,
      merge: false,
    });
    const [error = this.#document.warnings[0]] = this.#document.errors;
    if (error) throw this.#fail(error.pos[0], error.message);
    this.#refuseAliases();
    this.value = this.#document.toJS({ maxAliasCount: 0 }) as unknown;
  }

  static read(root: string, name: string): YamlFile {
    return new YamlFile(name, readText(root, name));
  }

  /** An error at a member, or at the nearest one around it that there is. */
  failAt(path: Path, message: string): Failure {
    return this.#fail(this.#offsetOf(path), message);
  }

  /** They would let a small file become a large one. */
  #refuseAliases(): void {
    visit(this.#document, {
      Alias: (_, { range, source }) => {
        throw this.#fail(
          range?.[0] ?? 0,
          `*${source}: no alias stands in a file. Write its value.`,
        );
      },
    });
  }

  #fail(offset: number, message: string): Failure {
    const { line, col } = this.#lines.linePos(offset);
    return usage(`${this.name}:${Math.max(1, line)}:${Math.max(1, col)}: ${message}`);
  }

  #offsetOf(path: Path): number {
    for (let length = path.length; length > 0; length -= 1) {
      const parent =
        length === 1
          ? this.#document.contents
          : this.#document.getIn(path.slice(0, length - 1), true);
      const name = path[length - 1];
      const pair = isMap(parent)
        ? parent.items.find(({ key }) => isScalar(key) && key.value === name)
        : undefined;
      const node = pair?.key ?? this.#document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return node.range[0];
    }
    return 0;
  }
}
