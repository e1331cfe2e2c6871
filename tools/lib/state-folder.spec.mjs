import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareStateFolder } from './state-folder.mjs';
import { useFolder } from './spec-folder.mjs';

const folder = useFolder();
const otherFolder = 'Choose a folder of your own: GLOVEBOX_DIR=$HOME/glovebox npm start';

it('a folder with spaces and letters beyond ASCII is made with those above it', () => {
  const wanted = join(folder, 'a b', 'größe', '日本');
  prepareStateFolder(wanted);
  prepareStateFolder(wanted);
  expect(existsSync(wanted)).toBe(true);
});

it.each(['quo"te', "quo'te", 'back\\slash', 'new\nline'])('a folder %j is refused', (name) => {
  expect(() => prepareStateFolder(join(folder, name))).toThrow(otherFolder);
  expect(existsSync(join(folder, name))).toBe(false);
});

it('a place where no folder can be made is refused at once, with its name', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const place of ['/proc/nowhere/at/all', file, join(file, 'below')]) {
    expect(() => prepareStateFolder(place)).toThrow(
      `Data, keys and logs cannot be kept in ${place} (`,
    );
    expect(() => prepareStateFolder(place)).toThrow(otherFolder);
  }
});

it('a full disk is refused with what is free, and what helps', () => {
  expect(() => prepareStateFolder(folder, { freeBytes: () => 3.5 * 1024 * 1024 })).toThrow(
    `Only 3 MB are free on the disk of ${folder}; Glovebox needs 512 MB.`,
  );
});
