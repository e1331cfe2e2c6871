import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { waitFor } from '@glovebox/testing';
import { FolderWatch } from './folder-watch';

const above = mkdtempSync(join(tmpdir(), 'glovebox-watched-'));
afterAll(() => rmSync(above, { recursive: true }));

let folders = 0;
/** A folder with files in folders. */
function folder(): string {
  const root = join(above, `${(folders += 1)}`);
  for (const name of ['reactors/one', 'reactors/two', 'node_modules']) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, 'code.ts'), '');
  }
  return root;
}

const watching = (): string[] =>
  process.getActiveResourcesInfo().filter((name) => /^(?:FSEvent|Timeout)/i.test(name));

it('nothing keeps the process up after the end, at whatever moment the folder goes', async () => {
  const before = watching();
  const moments = Array.from({ length: 25 }, (_, turns) => turns);
  for (const turns of [...moments, ...moments]) {
    const end = new AbortController();
    const root = folder();
    const watch = new FolderWatch(root, end.signal);
    await watch.ready();
    expect(watching().length).toBeGreaterThan(before.length);
    rmSync(root, { recursive: true });
    for (let nth = 0; nth < turns; nth += 1) await turn();
    end.abort();
    await watch.close();
  }
  // Its own timers last for a second.
  await waitFor(() => isDeepStrictEqual(watching(), before));
});

it('the end is not held up by a folder that goes while its files are still being found', async () => {
  for (let turns = 0; turns < 25; turns += 1) {
    const end = new AbortController();
    const root = folder();
    const watch = new FolderWatch(root, end.signal);
    for (let nth = 0; nth < turns; nth += 1) await turn();
    rmSync(root, { recursive: true });
    end.abort();
    await watch.ready();
    await watch.next();
    await watch.close();
  }
});

it('a change wakes without a look: of a file in a folder, of a new one, and of one that goes', async () => {
  const end = new AbortController();
  const root = folder();
  const watch = new FolderWatch(root, end.signal, 3_600_000);
  await watch.ready();
  const file = join(root, 'reactors/one/code.ts');
  for (const change of [
    () => writeFileSync(file, 'changed'),
    () => writeFileSync(join(root, 'reactors/new.ts'), ''),
    () => rmSync(file),
  ]) {
    const woken = watch.next();
    change();
    await woken;
  }
  end.abort();
  await watch.close();
});
