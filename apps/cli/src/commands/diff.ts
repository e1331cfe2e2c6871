import { createTwoFilesPatch } from 'diff';
import type { Context } from '../context';
import { Failure } from '../failure';
import { codeFileOf, compare, yamlFileOf, type Compared } from '../project/compare';
import { textOfSheet } from '../project/items';
import { findProject } from '../project/project';
import { Secret } from '../project/yaml-file';
import { plain, type Paint, type Terminal } from '../terminal';

interface DiffOptions {
  readonly exitCode?: boolean;
}

/** What a push would change. Values of configurations are not compared. */
export async function diff(context: Context, { exitCode }: DiffOptions): Promise<void> {
  const { terminal, cwd } = context;
  const root = findProject(cwd);
  const comparing = compare(root, context.api());
  const all = await terminal.progress('reading what is deployed', comparing);
  const differing = all.filter(({ isSame }) => !isSame);
  for (const one of differing) {
    const { kind, slug, local, deployed } = one;
    const change = local ? (deployed ? 'differs' : 'not deployed') : 'no file';
    const patch = patchOf(one);
    terminal.result({ kind, slug, change, patch }, () => {
      const head = terminal.paint('bold', `${kind} ${slug}: ${change}`);
      // A whole resource of somebody else would say little.
      return local ? `${head}\n${painted(patch, terminal)}` : head;
    });
  }
  if (differing.length === 0) terminal.say('The files are what is deployed.');
  if (exitCode && differing.length > 0) throw new Failure('failed', 'The files differ.');
}

function patchOf({ kind, slug, local, deployed }: Compared): string {
  const stored = (): Secret => new Secret('keep');
  const keep = { configured: stored, appended: stored };
  const names = new Set([
    ...Object.keys(deployed?.sheet.code ?? {}),
    ...Object.keys(local?.sheet.code ?? {}),
  ]);
  const parts = [
    {
      file: yamlFileOf(kind, slug),
      before: deployed ? textOfSheet(deployed.sheet, keep) : '',
      after: local ? textOfSheet(local.sheet, keep) : '',
    },
    ...[...names].map((name) => ({
      file: codeFileOf(kind, slug, name),
      before: deployed?.sheet.code[name] ?? '',
      after: local?.sheet.code[name] ?? '',
    })),
  ];
  return parts
    .filter(({ before, after }) => before !== after)
    .map(({ file, before, after }) =>
      createTwoFilesPatch(`deployed/${file}`, `files/${file}`, before, after, '', '', {
        context: 3,
      }).replace(/^=+\n/, ''),
    )
    .join('');
}

const paints: Readonly<Record<string, Paint>> = { '+': 'green', '-': 'red', '@': 'cyan' };

const painted = (patch: string, terminal: Terminal): string =>
  patch
    .split('\n')
    .map((line) => {
      const paint = paints[line[0] ?? ''];
      return paint ? terminal.paint(paint, plain(line)) : plain(line);
    })
    .join('\n');
