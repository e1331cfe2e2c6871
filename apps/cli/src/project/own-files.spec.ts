import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readText, removeFile, writeText } from './own-files';

let around: string;
let root: string;
const outside = () => join(around, 'elsewhere');
beforeEach(() => {
  around = realpathSync(mkdtempSync(join(tmpdir(), 'glovebox-own-')));
  root = join(around, 'project');
  mkdirSync(join(root, 'proxies'), { recursive: true });
  mkdirSync(outside());
  writeFileSync(join(outside(), 'key'), 'secret');
});
afterEach(() => rmSync(around, { recursive: true }));

const leadsOut = /leads out of the folder of the project/;

it('a file of the project is read, also by a link to another one and where its folder is a link', () => {
  writeFileSync(join(root, 'one.yaml'), 'one');
  symlinkSync('one.yaml', join(root, '..two.yaml'));
  symlinkSync(root, join(around, 'link'));
  expect(readText(root, '..two.yaml')).toBe('one');
  expect(readText(join(around, 'link'), 'one.yaml')).toBe('one');
  expect(() => readText(root, 'none.yaml')).toThrow('none.yaml is missing.');
});

it('no file outside of the project is read, neither by its path nor by a link', () => {
  symlinkSync(join(outside(), 'key'), join(root, 'key'));
  symlinkSync(outside(), join(root, 'reactors'));
  for (const name of ['../elsewhere/key', 'key', 'reactors/key']) {
    expect(() => readText(root, name)).toThrow(leadsOut);
  }
});

it('a link in the place of a file is replaced when the file is written, and stays what it was', () => {
  symlinkSync(join(outside(), 'key'), join(root, 'proxies/code.js'));
  writeText(root, 'proxies/code.js', 'written');
  expect(readFileSync(join(root, 'proxies/code.js'), 'utf8')).toBe('written');
  expect(readFileSync(join(outside(), 'key'), 'utf8')).toBe('secret');
  writeText(root, 'proxies/new/code.js', 'new');
  expect(readFileSync(join(root, 'proxies/new/code.js'), 'utf8')).toBe('new');
});

it('nothing is written or removed through a folder that is a link to outside', () => {
  symlinkSync(outside(), join(root, 'reactors'));
  symlinkSync(join(outside(), 'none'), join(root, 'applications'));
  expect(() => writeText(root, 'reactors/key', 'written')).toThrow(leadsOut);
  expect(() => writeText(root, 'reactors/new/code.js', 'written')).toThrow(leadsOut);
  expect(() => writeText(root, 'applications/one.yaml', 'written')).toThrow('is missing');
  expect(() => removeFile(root, 'reactors/key')).toThrow(leadsOut);
  expect(readFileSync(join(outside(), 'key'), 'utf8')).toBe('secret');
  expect(['new', 'none'].map((name) => existsSync(join(outside(), name)))).toEqual([false, false]);
});
