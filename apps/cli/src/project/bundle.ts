import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { BuildFailure, BuildOptions, Metafile, Plugin } from 'esbuild';
import { usage, type Failure } from '../failure';
import { isWithin, readText } from './own-files';
import type { CodeFile } from './project';

/** Code as it is sent. */
export interface Bundle {
  readonly file: string;
  readonly code: string;
  /** Of code that is uploaded, because no resource takes as much. */
  readonly sha256?: string;
  /** The source map. Undefined: the code is the file. */
  readonly map?: string;
  /** All files that are in it, relative to the project. */
  readonly inputs: readonly string[];
}

/** Characters of code that a resource takes. More is uploaded. */
const codeMax = 50_000;
/** Bytes of code that is uploaded. */
const uploadedMax = 1024 * 1024;

/**
 * A file with `export default` and what it imports, as one file that exports a function. The same
 * files make the same code on every machine.
 */
export async function bundle(
  root: string,
  { file, runtime }: CodeFile,
  isInspected = false,
): Promise<Bundle> {
  if (file.endsWith('.js')) return sendable({ file, code: readText(root, file), inputs: [file] });
  const options = optionsOf(root, file, runtime);
  const whole = await build(file, options);
  if (whole.code.length <= codeMax) return whole;
  // A debugger knows variables by the names that they have in the code.
  if (isInspected && Buffer.byteLength(whole.code) <= uploadedMax) return whole;
  const small = await build(file, { ...options, minify: true });
  if (small.code.length <= codeMax) return small;
  const largest = Buffer.byteLength(whole.code) <= uploadedMax ? whole : small;
  return sendable(largest, `The largest parts:\n${largest.largest.join('\n')}`);
}

/** Code with its hash, where it is uploaded. */
function sendable(made: Bundle, hint?: string): Bundle {
  const { file, code } = made;
  if (code.length <= codeMax) return made;
  const bytes = Buffer.byteLength(code);
  if (bytes > uploadedMax) {
    throw usage(
      `${file} has ${bytes} bytes with what it imports; ${uploadedMax} are the most.`,
      hint,
    );
  }
  return { ...made, sha256: createHash('sha256').update(code).digest('hex') };
}

/** Stands for the line that exports the function of the file, in the folder of the file. */
const entryName = 'glovebox-entry.js';

/** Whether a source of a bundle is that line: no file of the author. */
export const isEntry = (source: string): boolean => basename(source) === entryName;

const optionsOf = (root: string, file: string, runtime: string): BuildOptions => ({
  absWorkingDir: root,
  stdin: {
    contents: `import code from './${basename(file)}'; module.exports = code;`,
    resolveDir: join(root, dirname(file)),
    sourcefile: entryName,
  },
  outfile: join(root, 'reactor.js'),
  bundle: true,
  platform: 'node',
  target: runtime,
  format: 'cjs',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [offered, bounded(realpathSync(root))],
  charset: 'utf8',
  legalComments: 'none',
  sourcemap: 'external',
  sourcesContent: false,
  logLevel: 'silent',
});

/** A package that the project has is bundled. Any other one is that of the sandbox, or missing there. */
const offered: Plugin = {
  name: 'offered',
  setup(build) {
    build.onResolve({ filter: /^@svc\// }, () => ({ external: true }));
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, kind, ...from }) => {
      if (pluginData === offered.name || kind === 'entry-point') return undefined;
      const { resolveDir, importer } = from;
      const found = await build.resolve(path, {
        ...{ kind, resolveDir, importer, pluginData: offered.name },
      });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  },
};

/** Code that may be outside of the project, and files of packages. */
const codeEnd = /\.[cm]?[jt]sx?$/;
const ofPackage = /[\\/]node_modules[\\/].*\.(?:[cm]?[jt]sx?|json)$/;

/**
 * Keeps other files of this machine out of a bundle: a folder that somebody else wrote may import
 * them. Outside of it there are packages, and code of the workspace that the folder is a part of.
 */
const bounded = (root: string): Plugin => ({
  name: 'bounded',
  setup(build) {
    const workspace = workspaceAround(root);
    const isAllowed = (path: string): boolean =>
      isWithin(root, path) ||
      ofPackage.test(path) ||
      (workspace !== undefined && codeEnd.test(path) && isWithin(workspace, path));
    build.onLoad({ filter: /./, namespace: 'file' }, ({ path }) =>
      isAllowed(realPath(path))
        ? undefined
        : { errors: [{ text: `${path} is outside of the folder of the project` }] },
    );
  },
});

/** Yarn has packages in archives, whose files have no other path. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The folder above the project that says it is a workspace. */
function workspaceAround(root: string): string | undefined {
  const folder = dirname(root);
  if (folder === root) return undefined;
  return isWorkspace(folder) ? folder : workspaceAround(folder);
}

function isWorkspace(folder: string): boolean {
  if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return true;
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    return (JSON.parse(text) as { workspaces?: unknown }).workspaces !== undefined;
  } catch {
    return false;
  }
}

async function build(
  file: string,
  options: BuildOptions,
): Promise<Bundle & { readonly largest: readonly string[] }> {
  const esbuild = await bundler();
  const made = await esbuild
    .build({ ...options, write: false, metafile: true })
    .catch((error: unknown) => {
      throw explained(error as BuildFailure);
    });
  const textOf = (end: string): string =>
    made.outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return {
    file,
    code: textOf('.js'),
    map: textOf('.map'),
    inputs: Object.keys(made.metafile.inputs).filter((name) => !isEntry(name)),
    largest: largestOf(made.metafile),
  };
}

/** A program of each platform, which npm installs beside this one. */
export async function bundler(): Promise<typeof import('esbuild')> {
  try {
    return await import('esbuild');
  } catch (error) {
    const why = `esbuild, which bundles code, cannot be loaded: ${(error as Error).message}`;
    throw usage(why, 'Install glovebox again with npm, with optional dependencies.');
  }
}

function largestOf({ outputs }: Metafile): string[] {
  return Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .map(([name, { bytesInOutput }]) => [bytesInOutput, name] as const)
    .sort(([a], [b]) => b - a)
    .slice(0, 5)
    .map(([bytes, name]) => `${bytes} ${name}`);
}

function explained(failure: BuildFailure): Failure | BuildFailure {
  if (!Array.isArray(failure.errors)) return failure;
  const lines = failure.errors.map(({ text, location }) => {
    if (!location) return text;
    const { file, line, column, lineText } = location;
    const at = `${file}:${line}:${column + 1}: ${text}`;
    return `${at}\n${lineText}\n${' '.repeat(column)}^`;
  });
  return usage(lines.join('\n'));
}
