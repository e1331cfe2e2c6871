import type { Glovebox } from '@glovebox/client';
import type { Context } from '../context';
import { codeFileOf, compare, yamlFileOf, type Compared } from '../project/compare';
import { hashInSheet, textOfSheet, type ValuesOfFile } from '../project/items';
import { removeFile, writeText } from '../project/own-files';
import { findProject } from '../project/project';
import { valuesOf } from '../project/steps';
import { Secret } from '../project/yaml-file';

interface PullOptions {
  readonly force?: boolean;
}

type Change = 'same' | 'written' | 'kept' | 'only here';

/** Writes what is deployed into files. A file that says something else stays, unless forced. */
export async function pull(context: Context, { force = false }: PullOptions): Promise<void> {
  const { terminal, cwd } = context;
  const root = findProject(cwd);
  const api = context.api();
  const comparing = compare(root, api);
  const all = await terminal.progress('reading what is deployed', comparing);
  const changes: (Compared & { readonly change: Change })[] = [];
  for (const one of all) changes.push({ ...one, change: await pullOne(root, one, force, api) });
  for (const { kind, slug, change } of changes) {
    if (change === 'same' && !terminal.isJson) continue;
    const mark =
      change === 'written' ? terminal.paint('green', '✓') : terminal.paint('yellow', '!');
    terminal.result({ kind, slug, change }, `${mark} ${kind} ${slug}: ${change}`);
  }
  const keptOnes = changes.filter(({ change }) => change === 'kept').length;
  if (keptOnes > 0) {
    terminal.say(
      `${keptOnes} differ and were kept: \`glovebox diff\`, or \`glovebox pull --force\`.`,
    );
  }
}

async function pullOne(
  root: string,
  one: Compared,
  force: boolean,
  api: Glovebox,
): Promise<Change> {
  const { kind, slug, local, deployed, isSame } = one;
  if (isSame) return 'same';
  if (!deployed) return 'only here';
  if (local && !force) return 'kept';
  const yaml = yamlFileOf(kind, slug);
  const id = deployed.item.id;
  const head = id === undefined ? '' : `# Until the first push it has no slug.\nid: ${id}\n`;
  writeText(root, yaml, head + textOfSheet(deployed.sheet, valuesOfFile(one)));
  for (const name of new Set([
    ...Object.keys(local?.sheet.code ?? {}),
    ...Object.keys(deployed.sheet.code),
  ])) {
    const text = deployed.sheet.code[name];
    if (text !== undefined && text === local?.sheet.code[name]) continue;
    const file = codeFileOf(kind, slug, name);
    // What is deployed is JavaScript.
    removeFile(root, `${file}.ts`);
    if (text === undefined) removeFile(root, `${file}.js`);
    else writeText(root, `${file}.js`, await wholeCode(api, text));
  }
  return 'written';
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
