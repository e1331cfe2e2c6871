import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { check } from './lib/checks.mjs';
import { loadLibraries } from './lib/libraries.mjs';
import { pin, processorSeconds } from './lib/processes.mjs';
import { endOnSignal, withProduct } from './lib/product.mjs';
import { runBench } from './lib/results.mjs';
import { ratioOf, takeTurns, tell } from './lib/turns.mjs';

export const about =
  'detokenize in process, against a bare statement and GCM (P17) [--quick] [--write]';

/** @typedef {() => Promise<unknown>} Call */

const counts = [1, 10, 100];
const turnMs = 1_000;
const callers = 16;

const bench = {
  name: 'vault',
  heading: 'Tokens in process',
  goals: ['P17'],
  placement:
    'The peer is one prepared statement that reads by `= ANY` and inserts the same line of the audit log, and ' +
    'AES-256-GCM of as many values under one key at hand: no authorisation, no verdict, no place that each ' +
    `value is bound to, no data keys. ${callers} callers, values of 74 bytes. One process makes all calls, on ` +
    'core 0; Postgres and all else on core 1. Median [min..max] of the rounds.',
};

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ timing }) => {
    endOnSignal();
    /** @type {import('./types.js').Check[]} */
    const checks = [];
    /** @type {Record<string, unknown>} */
    const details = {};
    await withProduct({}, async (dev) => {
      for (const pid of Object.values(dev.pids)) pin(pid, 1);
      pin(process.pid, 0);
      await withTargets(dev, async (targetsOf) => {
        for (const count of counts) {
          console.log(`\nP17, tokens of a use: ${count}`);
          const rounds = await takeTurns(targetsOf(count), timing, callOnce);
          tell(rounds, { target: 'vault', peer: 'bare statement' });
          details[count] = rounds;
          checks.push(...checksOf(count, rounds));
        }
      });
    });
    return { checks, details };
  });

/**
 * @param {number} count
 * @param {readonly import('./types.js').Round[]} rounds
 */
const checksOf = (count, rounds) =>
  [
    ['calls per second', 'perSecond'],
    ['calls per second of processor time', 'perCpuSecond'],
  ].map(([what, figure]) =>
    check('P17', `tokens: ${count}, ${what}`, ratioOf(rounds, figure), ['≥', 0.8], ' ×'),
  );

/**
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {(targetsOf: (count: number) => { target: Call, peer: Call }) => Promise<void>} work
 */
async function withTargets(dev, work) {
  const libraries = await loadLibraries('vault', {
    '@glovebox/vault': 'TokenUses, Vault',
    '@glovebox/seal': 'parseKeyRing, Sealer',
    '@glovebox/database': 'connectDatabase, dataKeyTable',
  });
  const ring = libraries.parseKeyRing(readFileSync(dev.keyRingFile ?? '', 'utf8'));
  const url = dev.databaseUrls.data;
  const database = libraries.connectDatabase({ url, app: 'bench', connectionsMax: callers });
  const pool = new pg.Pool({ connectionString: url, max: callers });
  const sealer = new libraries.Sealer(ring, libraries.dataKeyTable(database));
  const vault = new libraries.Vault(sealer, new libraries.TokenUses(database));
  const { tenantId, ids } = await createTokens(dev, Math.max(...counts));
  try {
    await work((count) => ({
      target: () => detokenize(vault, tenantId, ids.slice(0, count)),
      peer: bareOf(pool, tenantId, ids.slice(0, count)),
    }));
  } finally {
    await Promise.all([database.close(), pool.end()]);
  }
}

/**
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {number} count
 */
async function createTokens({ managementUrl, privateKey }, count) {
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
  const tokens = Array.from({ length: count }, () => ({ type: 'card', data: card }));
  const answer = await fetch(`${managementUrl}/tokenize`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': privateKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(tokens),
  });
  const stored = /** @type {{ id: string, tenant_id: string }[]} */ (await answer.json());
  return { tenantId: stored[0]?.tenant_id ?? '', ids: stored.map(({ id }) => id) };
}

/**
 * @param {any} vault
 * @param {string} tenantId
 * @param {readonly string[]} ids
 */
function detokenize(vault, tenantId, ids) {
  const actorId = '00000000-0000-4000-8000-000000000000';
  const principal = { actorId, tenantId, type: 'private', permissions: ['token:use'] };
  const use = {
    tenantId,
    actorId,
    operation: 'proxy.invoke',
    entityType: 'proxy',
    entityId: actorId,
    traceId: randomUUID(),
    destinationHost: 'bench.example',
  };
  return vault.detokenize({ ...principal, rules: [] }, use, ids);
}

const bareStatement = `
  WITH recorded AS (
    INSERT INTO audit_log (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id,
      token_ids, destination_host)
    VALUES ($1, $3, 'proxy.invoke', 'proxy', $4, 'success', $5, $2, 'bench.example'))
  SELECT id, data FROM tokens WHERE tenant_id = $1 AND id = ANY ($2::text[])`;

/**
 * Reads, records and decrypts, without authorisation, verdict or check of missing tokens.
 *
 * @param {pg.Pool} pool
 * @param {string} tenantId
 * @param {readonly string[]} ids
 */
function bareOf(pool, tenantId, ids) {
  const id = '00000000-0000-4000-8000-000000000000';
  const decrypt = decryptionAtHand();
  return async () => {
    const { rows } = await pool.query({
      name: 'bare',
      text: bareStatement,
      values: [tenantId, ids, id, id, randomUUID()],
    });
    return rows.map(decrypt);
  };
}

/** Decrypts a value as long as a sealed card, under a key that needs no look-up. */
function decryptionAtHand() {
  const [key, nonce, place] = [randomBytes(32), randomBytes(12), randomBytes(100)];
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(place);
  const card = '{"number":"4242424242424242","expiration_month":12,"expiration_year":2030}';
  const sealed = Buffer.concat([cipher.update(card), cipher.final()]);
  const tag = cipher.getAuthTag();
  return () => {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(place).setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  };
}

/**
 * Makes calls for one turn. Returns calls per second, and per second of this process's CPU time.
 *
 * @param {Call} call
 */
async function callOnce(call) {
  const usedBefore = processorSeconds(process.pid);
  const startedAt = performance.now();
  let calls = 0;
  const caller = async () => {
    while (performance.now() - startedAt < turnMs) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const used = processorSeconds(process.pid) - usedBefore;
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: calls / seconds, perCpuSecond: calls / used };
}
