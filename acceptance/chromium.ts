import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Reaches this machine alone, and asks no server of its makers. */
const flags = [
  '--headless=new',
  '--no-sandbox',
  '--no-first-run',
  '--no-proxy-server',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

function findChromium(): string {
  const found = [process.env.CHROMIUM, ...usual].find((path) => path && existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    'This test needs Chromium: install it (apt-get install chromium) or set CHROMIUM to its path.',
  );
}

/** Shows a page in a browser of its own until the work is done, then ends the browser. */
export async function whileShown<Result>(
  url: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-chromium-'));
  const browser = spawn(findChromium(), [...flags, `--user-data-dir=${folder}`, url], {
    env: { ...process.env, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  browser.stderr.on('data', (text) => (said += String(text)));
  const ended = once(browser, 'exit');
  try {
    const gone = ended.then(() => {
      throw new Error(`Chromium ended by itself:\n${said}`);
    });
    return await Promise.race([work(), gone]);
  } finally {
    browser.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
