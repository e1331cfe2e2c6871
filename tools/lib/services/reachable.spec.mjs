import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { possibleFolders, reachableFolder, serviceFolder, serviceUser } from './reachable.mjs';
import { useFolder } from '../spec-folder.mjs';

const folder = useFolder();
const isRoot = process.getuid?.() === 0;

/** @param {string} path */
const isEntered = (path) =>
  spawnSync('/bin/sh', ['-c', 'cd "$0"', path], { ...serviceUser, cwd: '/' }).status === 0;

it('a folder that the services can enter is used itself', () => {
  const wanted = join(folder, 'state');
  expect(reachableFolder(wanted)).toBe(wanted);
  expect(isEntered(wanted)).toBe(true);
});

it('a folder below one that only root may enter is replaced by one that the services can enter', () => {
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const wanted = join(home, 'state');
  const found = reachableFolder(wanted);
  try {
    expect(found === wanted).toBe(!isRoot);
    expect(isEntered(found)).toBe(true);
    expect(possibleFolders(wanted)).toContain(found);
    expect(reachableFolder(wanted)).toBe(found);
  } finally {
    rmSync(found, { recursive: true });
  }
});

it('a link that somebody put in the place of that folder is not followed', () => {
  const home = join(folder, 'trap');
  mkdirSync(home, { mode: 0o700 });
  const wanted = join(home, 'state');
  const [, elsewhere = ''] = possibleFolders(wanted);
  symlinkSync(folder, elsewhere);
  try {
    if (isRoot)
      expect(() => reachableFolder(wanted)).toThrow(`${elsewhere} exists and is not ours`);
    else expect(reachableFolder(wanted)).toBe(wanted);
  } finally {
    rmSync(elsewhere);
  }
});

it('a folder of the services belongs to their user, and to nobody else', () => {
  const made = serviceFolder(join(folder, 'services'));
  expect(statSync(made).mode & 0o777).toBe(0o700);
  expect(statSync(made).uid).toBe(serviceUser.uid ?? process.getuid?.());
  writeFileSync(join(made, 'file'), '');
  expect(isEntered(made)).toBe(true);
});
