import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pin } from '../lib/processes.mjs';
import { endOnSignal, withProduct } from '../lib/product.mjs';
import { Children } from '../lib/programs.mjs';
import { Destination } from './destination.mjs';
import { startUpstream } from './peers.mjs';

/**
 * Runs the real product on core 1, its gateway on core 0, and a destination inside the bench.
 *
 * @param {Pick<import('../types.js').Setting, 'timing' | 'changes' | 'changesSeconds' | 'idle'>} options
 * @param {(setting: import('../types.js').Setting) => Promise<void>} work
 */
export async function withSetting(options, work) {
  endOnSignal();
  // All later processes inherit it, also the sessions of Postgres.
  pin(process.pid, 1);
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-bench-gateway-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const children = new Children();
  const destination = new Destination();
  try {
    await destination.listen();
    const environment = {
      EGRESS_ALLOW: '127.0.0.1:*',
      // P12 writes 100,000 definitions of one tenant.
      DEFINITIONS_PER_TENANT: '200000',
      DEFINITION_BYTES_PER_TENANT: '1000000000',
    };
    await withProduct(environment, async (dev) => {
      pin(dev.pids.gateway ?? 0, 0);
      const setting = { ...options, dev, folder, children, destination };
      try {
        await work({ ...setting, upstreamUrl: await startUpstream(setting) });
      } finally {
        await children.endAll();
      }
    });
  } finally {
    await destination.close();
  }
}

/**
 * Creates a proxy; returns its id and the headers of a call through any gateway.
 *
 * @param {Pick<import('../types.js').Setting, 'dev'>} setting
 * @param {object} document
 */
export async function createProxy({ dev }, document) {
  const proxy = await create(dev, '/proxies', { name: 'bench', ...document }, dev.adminKey);
  return {
    id: proxy.id,
    headers: { 'SVC-API-KEY': dev.privateKey, 'SVC-PROXY-KEY': proxy.key },
  };
}

/**
 * @param {Pick<import('../types.js').Setting, 'dev'>} setting
 * @param {number} count
 */
export async function createTokens({ dev }, count) {
  const ids = [];
  for (let i = 0; i < count; i += 1) {
    const data = `a secret of some length, number ${i}`;
    ids.push((await create(dev, '/tokens', { type: 'token', data }, dev.privateKey)).id);
  }
  return ids;
}

/**
 * @param {import('../../tools/lib/types.js').Dev} dev
 * @param {string} path
 * @param {object} document
 * @param {string} key
 * @returns {Promise<{ id: string, key: string }>}
 */
export async function create({ managementUrl }, path, document, key) {
  const answer = await fetch(managementUrl + path, {
    method: 'POST',
    headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  });
  if (answer.status !== 201) {
    throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  }
  return /** @type {{ id: string, key: string }} */ (await answer.json());
}
