import type { Glovebox } from '@glovebox/client';
import type { Context } from '../context';
import { usage } from '../failure';
import { codeFileOf, compare, yamlFileOf, type Compared } from '../project/compare';
import { hashInSheet, textOfSheet, type ValuesOfFile } from '../project/items';
import { keepCopy, removeFile, writeText } from '../project/own-files';
import { findProject } from '../project/project';
import { valuesOf } from '../project/steps';
import { Secret } from '../project/yaml-file';

interface PullOptions {
  readonly force?: boolean;
}

type Change = 'same' | 'written' | 'kept' | 'only here';

interface FilesOf {
  /** Texts by the names of files. */
  readonly written: ReadonlyMap<string, string>;
  readonly gone: readonly string[];
}

const none: FilesOf = { written: new Map(), gone: [] };

/** Writes what is deployed into files. A file that says something else stays, unless forced. */
export async function pull(
  context: Context,
  { force = false }: PullOptions,
  ...names: string[]
): Promise<void> {
  const { terminal, cwd } = context;
  const root = findProject(cwd);
  const api = context.api();
  const comparing = compare(root, api);
  const all = named(await terminal.progress('reading what is deployed', comparing), names);
  const changes: (Compared & { readonly change: Change; readonly files: FilesOf })[] = [];
  for (const one of all) {
    const change = changeOf(one, force);
    const files = change === 'written' ? await filesOf(one, api) : none;
    changes.push({ ...one, change, files });
  }
  // Every text is there. An answer that fails has changed nothing.
  const replaced = `.glovebox/replaced/${new Date().toISOString().replaceAll(':', '-')}`;
  const isKept = changes.map(({ files }) => keepCopies(root, files, replaced)).some(Boolean);
  for (const { files } of changes) writeFiles(root, files);
  for (const { kind, slug, change } of changes) {
    if (change === 'same' && !terminal.isJson) continue;
    const mark =
      change === 'written' ? terminal.paint('green', '✓') : terminal.paint('yellow', '!');
    terminal.result({ kind, slug, change }, `${mark} ${kind} ${slug}: ${change}`);
  }
  if (isKept) terminal.say(`What the files said before is in ${replaced}.`);
  const slugs = new Set(changes.filter(({ change }) => change === 'kept').map(({ slug }) => slug));
  if (slugs.size > 0) {
    terminal.say(
      `These differ and were kept: \`glovebox diff\`, or \`${forcedPull([...slugs])}\`.`,
    );
  }
}

/** Takes what is deployed of these alone, whatever their files say. */
export const forcedPull = (slugs: readonly string[]): string =>
  ['glovebox pull --force', ...slugs].join(' ');

/** Those of these names, or all where none is said. */
function named(all: readonly Compared[], names: readonly string[]): readonly Compared[] {
  const unknown = names.find((name) => !all.some(({ slug }) => slug === name));
  if (unknown !== undefined) {
    throw usage(
      `There is no "${unknown}", neither in the files nor deployed.`,
      `There are: ${[...new Set(all.map(({ slug }) => slug))].join(', ')}`,
    );
  }
  return names.length === 0 ? all : all.filter(({ slug }) => names.includes(slug));
}

function changeOf({ local, deployed, isSame }: Compared, force: boolean): Change {
  if (isSame) return 'same';
  if (!deployed) return 'only here';
  return local && !force ? 'kept' : 'written';
}

/** The files of a resource as they are deployed. */
async function filesOf(one: Compared, api: Glovebox): Promise<FilesOf> {
  const { kind, slug, local, deployed } = one;
  if (!deployed) return none;
  const id = deployed.item.id;
  const head = id === undefined ? '' : `# Until the first push it has no slug.\nid: ${id}\n`;
  const yaml = head + textOfSheet(deployed.sheet, valuesOfFile(one));
  const written = new Map([[yamlFileOf(kind, slug), yaml]]);
  const gone: string[] = [];
  for (const name of new Set([
    ...Object.keys(local?.sheet.code ?? {}),
    ...Object.keys(deployed.sheet.code),
  ])) {
    const text = deployed.sheet.code[name];
    if (text !== undefined && text === local?.sheet.code[name]) continue;
    const file = codeFileOf(kind, slug, name);
    // What is deployed is JavaScript.
    gone.push(`${file}.ts`);
    if (text === undefined) gone.push(`${file}.js`);
    else written.set(`${file}.js`, await wholeCode(api, text));
  }
  return { written, gone };
}

/** What is deployed is not the source: without a copy, work that was never pushed would be lost. */
const keepCopies = (root: string, { written, gone }: FilesOf, folder: string): boolean =>
  [...written.keys(), ...gone].map((name) => keepCopy(root, name, folder)).some(Boolean);

function writeFiles(root: string, { written, gone }: FilesOf): void {
  for (const [name, text] of written) writeText(root, name, text);
  for (const name of gone) removeFile(root, name);
}

/** The text of code that a sheet names by its hash alone. */
async function wholeCode(api: Glovebox, code: string): Promise<string> {
  const hash = hashInSheet(code);
  if (hash === undefined) return code;
  return (await api.get('/code/{sha256}', { params: { path: { sha256: hash } } })).code;
}

/** Where the file says how a value is found, it goes on saying so. */
function valuesOfFile({ local }: Compared): ValuesOfFile {
  const files = local?.files;
  const key = files?.kind === 'proxy' ? files.privateKey : undefined;
  const appended = valuesOf(files?.members ?? {});
  return {
    configured(name) {
      const said = name === 'client_certificate.private_key' ? key : files?.configuration[name];
      return said ?? new Secret('keep');
    },
    appended: (place) => appended.get(place) ?? new Secret('keep'),
  };
}
