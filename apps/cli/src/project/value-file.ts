import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { codeOf, type Failure } from '../failure';

/** More than the API takes of any value. */
const valueBytesMax = 64 * 1024;

/** The text of a file of the project. A folder from elsewhere cannot send other files of this machine. */
export function readValueFile(root: string, name: string, fail: (why: string) => Failure): string {
  const asWritten = join(root, name);
  if (relative(root, asWritten).startsWith('..')) throw fail(outside);
  const file = realPath(asWritten, fail);
  if (!file.startsWith(realpathSync(root) + sep)) throw fail(outside);
  const found = statSync(file);
  // A pipe in its place would never end.
  if (!found.isFile()) throw fail(`${name} is no file`);
  if (found.size > valueBytesMax) throw fail(`${name} has more than ${valueBytesMax} bytes`);
  return textIn(readFileSync(file), () => fail(`${name} is no UTF-8`));
}

const outside = 'the file must be in the folder of the project';

function realPath(path: string, fail: (why: string) => Failure): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const why = codeOf(error);
    throw fail(why === 'ENOENT' ? 'there is no such file' : `the file cannot be read: ${why}`);
  }
}

function textIn(bytes: Buffer, failure: () => Failure): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw failure();
  }
}
