import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import pg from 'pg';
import { repoRoot } from '../tools/lib/repo.mjs';
import { pin } from './lib/compare.mjs';
import { withProduct } from './lib/product.mjs';

export const about = 'detokenize in process, against a bare statement and GCM (P17)';

const counts = [1, 10, 100];
const rounds = 7;
const roundMs = 2_000;
const callers = 16;

export async function run() {
  await withProduct({}, async (dev) => {
    for (const pid of Object.values(dev.pids)) pin(pid, 1);
    pin(process.pid, 0);
    const libraries = await loadLibraries();
    const ring = libraries.parseKeyRing(readFileSync(dev.keyRingFile, 'utf8'));
    const url = dev.databaseUrls.data;
    const database = libraries.connectDatabase({ url, app: 'bench', connectionsMax: callers });
    const pool = new pg.Pool({ connectionString: url, max: callers });
    const vault = new libraries.Vault(new libraries.Sealer(ring, libraries.dataKeyTable(database)));
    const { tenantId, ids } = await createTokens(dev, Math.max(...counts));
    try {
      for (const count of counts) {
        const wanted = ids.slice(0, count);
        const targets = {
          vault: () => detokenize(vault, database, tenantId, wanted),
          bare: bareOf(pool, tenantId, wanted),
        };
        print(count, await compare(targets));
      }
      console.log('goal ≥ 0.8; this process on core 0, Postgres and everything else on core 1');
    } finally {
      await Promise.all([database.close(), pool.end()]);
    }
  });
}

/** The libraries as the apps have them: bundled by esbuild, packages left outside. */
async function loadLibraries() {
  const folder = mkdtempSync(join(repoRoot, 'dist', 'bench-'));
  const outfile = join(folder, 'libraries.cjs');
  const from = (name, what) => `export { ${what} } from './libs/${name}/src/index.ts';`;
  try {
    await build({
      stdin: {
        contents: [
          from('vault', 'Vault'),
          from('seal', 'parseKeyRing, Sealer'),
          from('database', 'connectDatabase, dataKeyTable'),
        ].join('\n'),
        resolveDir: repoRoot,
      },
      tsconfig: join(repoRoot, 'tsconfig.base.json'),
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      external: ['pg', 'pino', 'prom-client'],
      logLevel: 'warning',
    });
    return createRequire(outfile)(outfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createTokens({ managementUrl, privateKey }, count) {
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
  const tokens = Array.from({ length: count }, () => ({ type: 'card', data: card }));
  const answer = await fetch(`${managementUrl}/tokenize`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': privateKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(tokens),
  });
  const stored = await answer.json();
  return { tenantId: stored[0].tenant_id, ids: stored.map(({ id }) => id) };
}

function detokenize(vault, database, tenantId, ids) {
  const applicationId = '00000000-0000-4000-8000-000000000000';
  const principal = { applicationId, tenantId, type: 'private', permissions: ['token:use'] };
  const use = {
    tenantId,
    actorId: applicationId,
    operation: 'proxy.invoke',
    entityType: 'proxy',
    entityId: applicationId,
    traceId: randomUUID(),
    destinationHost: 'bench.example',
  };
  return vault.detokenize(database, { ...principal, rules: [] }, use, ids);
}

const bareStatement = `
  WITH recorded AS (
    INSERT INTO audit_log (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id,
      token_ids, destination_host)
    VALUES ($1, $3, 'proxy.invoke', 'proxy', $4, 'success', $5, $2, 'bench.example'))
  SELECT id, data FROM tokens WHERE tenant_id = $1 AND id = ANY ($2::text[])`;

/** No authorisation, no verdict, no check of what is missing: read, record, decrypt. */
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

/** Of a value as long as a sealed card, under a key that needs no look-up. */
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

/** Calls of each per second and per second of this process's own time, in turns. */
async function compare(targets) {
  const names = Object.keys(targets);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) await load(targets[name], 500);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      results[name].push(await load(targets[name], roundMs));
    }
  }
  return results;
}

async function load(call, durationMs) {
  const usedBefore = process.cpuUsage();
  const startedAt = performance.now();
  let calls = 0;
  const caller = async () => {
    while (performance.now() - startedAt < durationMs) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const { user, system } = process.cpuUsage(usedBefore);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: calls / seconds, perCpuSecond: calls / ((user + system) / 1e6) };
}

function print(count, { vault, bare }) {
  const figure = (name) => {
    const ratios = vault
      .map((result, round) => result[name] / bare[round][name])
      .sort((a, b) => a - b);
    const at = (position) => ratios[position].toFixed(2);
    return `${at(Math.floor(ratios.length / 2))} [${at(0)}..${at(ratios.length - 1)}]`;
  };
  const calls = Math.round(vault.reduce((sum, { perSecond }) => sum + perSecond, 0) / rounds);
  console.log(
    `${count} tokens: ${figure('perSecond')} × the calls per second (${calls}), ` +
      `${figure('perCpuSecond')} × per CPU second`,
  );
}
