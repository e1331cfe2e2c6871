import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Context } from '../context';
import { usage } from '../failure';
import { firstFilesOf } from '../project/first-files';
import { projectFile, slugOf } from '../project/project';

/** A folder with one of each, which deploys as it is. */
export function init({ cwd, terminal }: Context, _: object, folder = '.'): void {
  const root = resolve(cwd, folder);
  if (existsSync(join(root, projectFile))) throw usage(`${root} has a ${projectFile} already.`);
  const files = Object.entries(firstFilesOf(projectNameOf(root)));
  const taken = files.map(([name]) => name).filter((name) => existsSync(join(root, name)));
  if (taken.length > 0) {
    throw usage(
      `${root} has other files of these names: ${taken.join(', ')}.`,
      'Choose another folder.',
    );
  }
  for (const [name, text] of files) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text, { flag: 'wx' });
  }
  const names = files.map(([name]) => name);
  const way = relative(cwd, root);
  const steps = [
    ...(way === '' ? [] : [`cd ${way}`]),
    'glovebox login          # a key of a management application',
    'glovebox dev hello      # runs on every save',
    'glovebox test',
    'glovebox push',
  ];
  terminal.result({ folder: root, files: names }, () =>
    [...names.map((name) => `  ${name}`), '', 'Next:', ...steps.map((line) => `  ${line}`)].join(
      '\n',
    ),
  );
}

/** Another folder of the same name, of somebody else say, is another project. */
const projectNameOf = (root: string): string =>
  `${slugOf(basename(root))}-${randomBytes(2).toString('hex')}`;
