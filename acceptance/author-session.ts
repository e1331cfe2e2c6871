import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { call, scriptEnvironment } from './product';

/** Signs in at the console by a link, as an author. */
export async function authorSession(): Promise<{ readonly api: string; readonly key: string }> {
  const link = spawnSync(process.execPath, ['tools/console-link.mjs', '--role', 'author'], {
    ...{ cwd: join(__dirname, '..'), env: scriptEnvironment(), encoding: 'utf8' },
  }).stdout.trim();
  const api = `${new URL(link).origin}/api`;
  const code = new URLSearchParams(new URL(link).hash.slice(1)).get('code');
  const signedIn = await call('POST', `${api}/console/sessions`, { body: { code } });
  return { api, key: String(signedIn.body.key) };
}
