import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

/** How `npm test` says that Chromium is run. A root lets it be another user. */
interface Program {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

/** Reaches this machine alone, and asks no server of its makers. */
const flags = [
  '--headless',
  '--remote-debugging-port=0',
  // Its own sandbox needs a user namespace or a program of root. It shows our pages alone.
  '--no-sandbox',
  '--no-first-run',
  '--no-proxy-server',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--hide-scrollbars',
  '--font-render-hinting=none',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

export interface OpenBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Starts a browser, which the specs of one file share. */
export async function startBrowser(): Promise<OpenBrowser> {
  const { TEST_CHROMIUM } = process.env;
  if (!TEST_CHROMIUM) throw new Error('Run these specs with `npm test`: they need a browser');
  const { command, env, ...user } = JSON.parse(TEST_CHROMIUM) as Program;
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-chromium-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const child = spawn(command, [...flags, `--user-data-dir=${folder}`], {
    ...user,
    cwd: '/',
    env: { ...env, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const browser = await chromium.connectOverCDP(await debuggerUrl(child));
    return {
      browser,
      async close() {
        await browser.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function debuggerUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (text) => {
      said += String(text);
      const [, url] = /^DevTools listening on (\S+)/m.exec(said) ?? [];
      if (url) resolve(url);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`Chromium ended by itself:\n${said}`)));
  });
}
