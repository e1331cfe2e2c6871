import { readFileSync, statSync } from 'node:fs';
import { codeOf, type Failure } from '../failure';
import { ownPath } from './own-files';

/** More than the API takes of any value. */
const valueBytesMax = 64 * 1024;

/** The text of a file of the project. */
export function readValueFile(root: string, name: string, fail: (why: string) => Failure): string {
  const file = found(root, name, fail);
  if (file === undefined) throw fail('the file must be in the folder of the project');
  const stats = statSync(file);
  // A pipe in its place would never end.
  if (!stats.isFile()) throw fail(`${name} is no file`);
  if (stats.size > valueBytesMax) throw fail(`${name} has more than ${valueBytesMax} bytes`);
  return textIn(readFileSync(file), () => fail(`${name} is no UTF-8`));
}

function found(root: string, name: string, fail: (why: string) => Failure): string | undefined {
  try {
    return ownPath(root, name);
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
