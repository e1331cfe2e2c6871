import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { codeOf, usage } from '../failure';

/**
 * The real path of a file of the project. Undefined: it is elsewhere. A folder that somebody else
 * wrote reaches no other file of this machine, neither by `..` nor by a link.
 */
export function ownPath(root: string, name: string): string | undefined {
  const asWritten = join(root, name);
  if (!isWithin(root, asWritten)) return undefined;
  const real = realpathSync(asWritten);
  return isWithin(realpathSync(root), real) ? real : undefined;
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way.split(sep)[0] !== '..';
}

export function readText(root: string, name: string): string {
  const path = found(root, name);
  if (path === undefined) throw leadsOut(name);
  return read(path, name);
}

/** The text of a file that the user has named, wherever it is. */
export const readNamed = (root: string, name: string): string => read(join(root, name), name);

/** Replaces a link in the place of the file. */
export function writeText(root: string, name: string, text: string): void {
  const path = join(root, name);
  makeFolder(root, dirname(name));
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(path);
  writeFileSync(path, text);
}

/** A folder of the project, made where there is none. */
export function makeFolder(root: string, name: string): string {
  checkFolder(root, name);
  mkdirSync(join(root, name), { recursive: true });
  return join(root, name);
}

export function removeFile(root: string, name: string): void {
  checkFolder(root, dirname(name));
  rmSync(join(root, name), { force: true });
}

/** Copies a file into a folder of the project, if it is one. What a link leads to stays anyway. */
export function keepCopy(root: string, name: string, folder: string): boolean {
  const path = join(root, name);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false;
  const kept = join(folder, name);
  checkFolder(root, dirname(name));
  makeFolder(root, dirname(kept));
  copyFileSync(path, join(root, kept), constants.COPYFILE_EXCL);
  return true;
}

/** Looks at the part of the path that there is already. */
function checkFolder(root: string, name: string): void {
  const isThere = lstatSync(join(root, name), { throwIfNoEntry: false }) !== undefined;
  if (!isThere) return checkFolder(root, dirname(name));
  if (found(root, name) === undefined) throw leadsOut(name);
}

const leadsOut = (name: string) => usage(`${name} leads out of the folder of the project.`);

function found(root: string, name: string): string | undefined {
  try {
    return ownPath(root, name);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function read(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(name, error);
  }
}

const unreadable = (name: string, error: unknown) =>
  usage(
    `${name} ${codeOf(error) === 'ENOENT' ? 'is missing' : `cannot be read: ${codeOf(error)}`}.`,
  );
