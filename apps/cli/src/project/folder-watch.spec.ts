import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** A user whom permissions bind, as they do not bind root. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const { seteuid } = process;
  if (process.geteuid?.() !== 0 || !seteuid) return work();
  seteuid(65_534);
  try {
    await work();
  } finally {
    seteuid(0);
  }
}

it('what the system refuses to watch ends nothing, and the rest is looked at', async () => {
  const end = new AbortController();
  const root = folder();
  for (const path of [above, root]) chmodSync(path, 0o755);
  const locked = join(root, 'reactors/two');
  chmodSync(locked, 0);
  await asNobody(async () => {
    const watch = new FolderWatch(root, end.signal, 10);
    await watch.ready();
    await watch.next();
    end.abort();
    await watch.close();
  });
  chmodSync(locked, 0o755);
});

it('a link that leads in a circle or out of the folder is not followed', async () => {
  const end = new AbortController();
  const [root, elsewhere] = [folder(), folder()];
  symlinkSync('circle', join(root, 'circle'));
  symlinkSync(elsewhere, join(root, 'elsewhere'));
  const watch = new FolderWatch(root, end.signal, 3_600_000);
  const there = new FolderWatch(elsewhere, end.signal, 3_600_000);
  await Promise.all([watch.ready(), there.ready()]);
  let isWoken = false;
  const woken = watch.next().then(() => (isWoken = true));
  const told = there.next();
  writeFileSync(join(elsewhere, 'reactors/one/code.ts'), 'changed');
  await told;
  for (let nth = 0; nth < 25; nth += 1) await turn();
  expect(isWoken).toBe(false);
  writeFileSync(join(root, 'reactors/one/code.ts'), 'changed');
  await woken;
  end.abort();
  await Promise.all([watch.close(), there.close()]);
});
