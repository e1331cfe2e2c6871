import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/lib/ports.mjs';
import { untilAnswers } from '../lib/programs.mjs';

const folder = fileURLToPath(new URL('../peers/intercepting/', import.meta.url));

/**
 * Starts a proxy that ends TLS and passes requests on to the destination. Undefined where it is not
 * installed.
 *
 * @param {import('../types.js').Setting} setting
 * @param {string} name
 * @param {string} host
 * @returns {Promise<import('../types.js').Intercepting | undefined>}
 */
export async function startIntercepting({ children, ...setting }, name, host) {
  if (!existsSync(join(folder, 'node_modules', name))) return undefined;
  const [port, readyPort] = [await freePort(), await freePort()];
  const caFile = join(setting.folder, `${name}-ca.pem`);
  const own = join(setting.folder, name);
  const args = [name, port, readyPort, setting.upstreamUrl ?? '', caFile, own].map(String);
  const child = children.start(process.execPath, [join(folder, 'start.cjs'), ...args]);
  await untilAnswers(child, `http://127.0.0.1:${readyPort}`);
  return { name, pid: child.pid ?? 0, proxyUrl: `http://127.0.0.1:${port}`, host, caFile };
}
