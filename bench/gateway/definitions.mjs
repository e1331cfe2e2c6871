import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pin } from '../lib/processes.mjs';
import { check } from '../lib/checks.mjs';
import { until } from '../lib/waiting.mjs';
import { startGateway } from './gateways.mjs';
import { loadSealing, sampleDefinition } from './sample-definitions.mjs';
import { createProxy } from './setting.mjs';

/** @typedef {ReturnType<typeof sampleDefinition>} Sample */

const definitions = 100_000;
const perStatement = 1_000;
const changesPerStatement = 100;
const changeIntervalMs = 100;

/**
 * P12: memory for many definitions, and pauses while they are loaded and changed.
 *
 * @param {import('../types.js').Setting} setting
 */
export async function measureDefinitions(setting) {
  const { dev, changesSeconds } = setting;
  const log = await openLog(dev);
  // Core 0 is for the measured gateway alone.
  pin(dev.pids.gateway ?? 0, 1);
  const gateway = await startGateway(setting, { probe: true });
  pin(gateway.pid, 0);
  try {
    const before = (await gateway.ask('memory')).liveBytes;
    await gateway.ask('pause');
    for (let done = 0; done < definitions; done += perStatement) await log.append(perStatement);
    await untilFollowed(setting, gateway);
    const loading = (await gateway.ask('pause')).longestMs;
    const bytes = ((await gateway.ask('memory')).liveBytes - before) / definitions;
    await gateway.ask('pause');
    await changeFor(changesSeconds * 1_000, log);
    await untilFollowed(setting, gateway);
    const changing = (await gateway.ask('pause')).longestMs;
    /**
     * @param {string} what
     * @param {number} ms
     */
    const pauses = (what, ms) => check('P12', `longest pause while ${what}`, ms, ['≤', 60], ' ms');
    return [
      check('P12', `a definition in memory, of ${definitions}`, bytes / 1_024, ['≤', 1.5], ' KiB'),
      pauses('they are loaded', loading),
      pauses('1,000 of them a second change', changing),
      check('P12', 'start with them until ready', await startUp(setting), undefined, ' s'),
    ];
  } finally {
    await gateway.end();
    await log.close();
  }
}

/** @param {import('../types.js').Setting} setting */
async function startUp(setting) {
  const startedAt = performance.now();
  const gateway = await startGateway(setting);
  const seconds = (performance.now() - startedAt) / 1_000;
  await gateway.end();
  return seconds;
}

/**
 * Waits until a definition that was written after all others is served: then they all are.
 *
 * @param {import('../types.js').Setting} setting
 * @param {import('../types.js').BenchGateway} gateway
 */
async function untilFollowed(setting, gateway) {
  const { headers } = await createProxy(setting, { destination_url: setting.destination.url });
  const served = async () => {
    const answer = await fetch(`${gateway.url}/proxy`, { headers });
    await answer.arrayBuffer();
    return answer.status === 200;
  };
  await until(served, { withinMs: 120_000, what: 'the definitions are followed' });
}

/**
 * @param {number} ms
 * @param {Awaited<ReturnType<typeof openLog>>} log
 */
async function changeFor(ms, log) {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    await Promise.all([log.change(changesPerStatement), sleep(changeIntervalMs)]);
  }
}

/**
 * Writes into the definition log as the management API does, many definitions at once.
 *
 * @param {import('../../tools/lib/types.js').Dev} dev
 */
async function openLog(dev) {
  const { sealDefinition, parseKeyRing } = await loadSealing();
  const ring = parseKeyRing(readFileSync(dev.keyRingFile ?? '', 'utf8'));
  const client = new pg.Client(dev.databaseUrl);
  await client.connect();
  /** @type {Sample[]} */
  const known = [];
  /** @param {readonly Sample[]} samples */
  const write = (samples) =>
    client.query(
      `WITH head AS (
         UPDATE definition_head SET version = version + cardinality($1::text[]) RETURNING version
       )
       INSERT INTO definition_log (version, kind, id, tenant_id, payload)
       SELECT head.version - cardinality($1::text[]) + part.place, part.kind, part.id, $4, part.payload
       FROM head, unnest($1::text[], $2::uuid[], $3::bytea[]) WITH ORDINALITY
         AS part (kind, id, payload, place)
       ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, payload = excluded.payload`,
      [
        samples.map(({ kind }) => kind),
        samples.map(({ id }) => id),
        samples.map((sample) => sealDefinition(ring, ring.newestVersion, sample)),
        dev.tenantId,
      ],
    );
  return {
    /** @param {number} count */
    async append(count) {
      const samples = Array.from({ length: count }, (_, at) => sampleDefinition(dev.tenantId, at));
      await write(samples);
      known.push(...samples);
    },
    /** @param {number} count */
    async change(count) {
      const from = Math.floor(Math.random() * (known.length - count));
      await write(known.slice(from, from + count));
    },
    close: () => client.end(),
  };
}
