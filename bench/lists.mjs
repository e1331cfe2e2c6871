import pg from 'pg';
import { check } from './lib/checks.mjs';
import { median, percentile } from './lib/figures.cjs';
import { endOnSignal, withProduct } from './lib/product.mjs';
import { runBench } from './lib/results.mjs';

export const about = 'lists and searches among 10,000,000 rows (L1, L2) [--quick] [--write]';

const bench = {
  name: 'lists',
  heading: 'Lists of many rows',
  goals: ['L1', 'L2'],
  placement:
    'A tenant with so many tokens and as many lines in its audit log, and a twentieth of both for another ' +
    'tenant. One caller, over HTTP, one call after another: page 1, page 1,000 and the page behind the cursor ' +
    'of page 1,000, 20 entries each. Milliseconds per call, median and 99th percentile. Beside the goals, a ' +
    'page behind nine tenths of the rows, and those that follow it by number. Then 1,000,000 calls of a week of ' +
    'that tenant, and as many counts.',
};
const rowsOf = { whole: 10_000_000, quick: 300_000 };
const callsOf = { whole: 1_000_000, quick: 100_000 };

/** @typedef {{ path: string, body?: object, key: string }} List */

/** @param {readonly string[]} args */
export const run = (args) =>
  runBench(bench, args, async ({ quick }) => {
    endOnSignal();
    const rows = quick ? rowsOf.quick : rowsOf.whole;
    const calls = quick ? 20 : 100;
    /** @type {import('./types.js').Check[]} */
    const checks = [];
    /** @type {Record<string, unknown>} */
    const details = { rows };
    await withProduct({}, async (dev) => {
      await fill(dev, rows);
      for (const [what, list] of Object.entries(await listsOf(dev))) {
        for (const place of ['page 1', 'page 1,000', 'behind it']) {
          const times = await measure(dev, list, place, calls);
          details[`${what}, ${place}`] = times;
          const p99 = percentile(times, 0.99).toFixed(1);
          const title = `${what}, ${place}: p50 (p99 ${p99} ms)`;
          checks.push(check('L1', title, median(times), ['≤', 20], ' ms'));
          console.log(`${title} ${median(times).toFixed(1)} ms`);
        }
      }
      await fillCalls(dev, quick ? callsOf.quick : callsOf.whole);
      for (const [what, path] of Object.entries(readings)) {
        const times = await timesOf(dev, { path, key: dev.adminKey }, calls);
        details[what] = times;
        const title = `${what}: p99 (p50 ${median(times).toFixed(1)} ms)`;
        checks.push(check('L2', title, percentile(times, 0.99), ['≤', 300], ' ms'));
        console.log(`${title} ${percentile(times, 0.99).toFixed(1)} ms`);
      }
      for (const hours of [1, 24, 168]) {
        const path = `/overview?hours=${hours}`;
        const [first = 0] = await timesOf(dev, { path, key: dev.adminKey }, 1, 0);
        details[path] = first;
        checks.push(check('L2', `GET ${path}, the first time`, first, undefined, ' ms'));
        console.log(`GET ${path}, the first time ${first.toFixed(1)} ms`);
      }
      for (const [what, list] of Object.entries(await listsOf(dev))) {
        if (!isLong.has(what)) continue;
        const far = await measureFar(dev, list, Math.floor((rows * 0.9) / 20), calls);
        details[`${what}, far behind`] = far;
        console.log(
          `${what}, behind nine tenths: ${far.first.toFixed(0)} ms in ${far.asked} calls, ` +
            `then p50 ${median(far.next).toFixed(1)} ms`,
        );
      }
    });
    return { checks, details };
  });

/** What is asked of the log of calls. */
const readings = {
  'GET /calls': '/calls',
  'GET /calls, those that failed': '/calls?outcome=failed&outcome=destination_error',
  'GET /calls, a code': '/calls?code=destination_unreachable',
};

const isLong = new Set(['GET /tokens', 'GET /tokens, metadata of all', 'GET /logs']);

/**
 * @param {import('../tools/lib/types.js').Dev} dev
 * @returns {Promise<Record<string, List>>}
 */
async function listsOf({ managementUrl, adminKey }) {
  /** @param {object} access */
  const keyWith = async (access) => {
    const application = { name: 'bench', type: 'private', ...access };
    const { key } = await callOnce(managementUrl, {
      path: '/applications',
      key: adminKey,
      body: application,
    });
    return /** @type {string} */ (key);
  };
  const permissions = ['token:read', 'token:search'];
  const key = await keyWith({ permissions });
  const rule = { description: 'cards', priority: 1, container: '/pci/', transform: 'mask' };
  const ofCards = await keyWith({ rules: [{ ...rule, permissions }] });
  /** @param {string} query */
  const search = (query) => ({ path: '/tokens/search', body: { query }, key });
  return {
    'GET /tokens': { path: '/tokens', key },
    'GET /tokens, a type': { path: '/tokens?type=card', key },
    'GET /tokens, the containers of a rule': { path: '/tokens', key: ofCards },
    'GET /tokens, metadata of all': { path: '/tokens?metadata.all=yes', key },
    'search, metadata of one in ten': search('metadata.tenth:yes'),
    'search, metadata of one in 5,000': search('metadata.few:yes'),
    'search, metadata of all and a type': search('metadata.all:yes AND type:card'),
    'search, metadata of one in ten or in 5,000': search('metadata.tenth:yes OR metadata.few:yes'),
    'search, metadata of all and of one in 5,000': search('metadata.all:yes AND metadata.few:yes'),
    'search, a container': search('container:/pci/*'),
    'GET /logs': { path: '/logs', key: adminKey },
    'GET /logs, an operation': { path: '/logs?operation=token.read', key: adminKey },
    'GET /logs, one line in 5,000': { path: '/logs?entity_type=application', key: adminKey },
  };
}

/**
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {List} list
 * @param {string} place
 * @param {number} calls
 */
async function measure({ managementUrl }, list, place, calls) {
  const number = place === 'page 1' ? 1 : 1_000;
  /** @type {object} */
  let page = { page: number };
  if (place === 'behind it') {
    const { pagination } = await callOnce(managementUrl, withPage(list, page));
    if (pagination.after) page = { after: pagination.after };
  }
  return timesOf({ managementUrl }, withPage(list, page), calls);
}

/**
 * @param {Pick<import('../tools/lib/types.js').Dev, 'managementUrl'>} dev
 * @param {List} asked
 * @param {number} calls
 * @param {number} [before] calls that are not measured
 */
async function timesOf({ managementUrl }, asked, calls, before = 5) {
  const times = [];
  for (let count = -before; count < calls; count += 1) {
    const startedAt = performance.now();
    await callOnce(managementUrl, asked);
    if (count >= 0) times.push(performance.now() - startedAt);
  }
  return times;
}

/**
 * Walks by numbers of pages. A page that is not found in time is asked for again.
 *
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {List} list
 * @param {number} page
 * @param {number} calls
 */
async function measureFar({ managementUrl }, list, page, calls) {
  const startedAt = performance.now();
  let asked = 1;
  while ((await call(managementUrl, withPage(list, { page }))).status === 503) asked += 1;
  const first = performance.now() - startedAt;
  const next = [];
  for (let step = 1; step <= calls; step += 1) {
    const from = performance.now();
    await callOnce(managementUrl, withPage(list, { page: page + step }));
    next.push(performance.now() - from);
  }
  return { first, asked, next };
}

/**
 * @param {List} list
 * @param {object} page
 * @returns {List}
 */
function withPage({ path, body, key }, page) {
  if (body) return { path, key, body: { ...body, ...page } };
  const query = Object.entries(page).map(([name, value]) => `${name}=${value}`);
  return { path: `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`, key };
}

/**
 * @param {string} url
 * @param {List} list
 * @returns {Promise<any>}
 */
async function callOnce(url, list) {
  const { status, text } = await call(url, list);
  if (status >= 300) throw new Error(`${list.path}: ${status} ${text}`);
  return JSON.parse(text);
}

/**
 * @param {string} url
 * @param {List} list
 */
async function call(url, { path, body, key }) {
  const answer = await fetch(url + path, {
    headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

/**
 * Copies tokens of the API. Indexes are built, and counts made, when the rows are there.
 *
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {number} rows
 */
async function fill(dev, rows) {
  const samples = await sampleTokens(dev);
  const database = new pg.Client({ connectionString: dev.databaseUrls.admin });
  await database.connect();
  /**
   * @param {string} text
   * @param {readonly unknown[]} [values]
   */
  const query = (text, values = []) => database.query(text, [...values]);
  const [tenant, other] = [dev.tenantId, dev.secondTenant.tenantId];
  try {
    // No triggers, and no wait for the disk.
    await query(`SET session_replication_role = replica`);
    await query(`SET synchronous_commit = off`);
    await query(`SET maintenance_work_mem = '1GB'`);
    const { rows: indexes } = await query(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
       FROM pg_index WHERE indrelid IN ('tokens'::regclass, 'token_terms'::regclass)
         AND NOT indisprimary`,
    );
    for (const { name } of indexes) await query(`DROP INDEX ${name}`);
    console.log(`${rows} tokens`);
    await query(
      `INSERT INTO tokens (tenant_id, id, type, container, data, metadata, fingerprint, created_at)
       SELECT CASE WHEN n % 20 = 1 THEN $2::uuid ELSE tenant_id END,
         overlay(md5(n::text)::uuid::text PLACING '4' FROM 15 FOR 1),
         CASE WHEN n % 3 = 0 THEN 'card' ELSE type END,
         CASE WHEN n % 3 = 0 THEN '/pci/high/' ELSE container END,
         data, metadata, md5(n::text), now() - n * interval '100 ms'
       FROM tokens, generate_series(1, $3::int) n WHERE id = $1`,
      [samples.get('all'), other, rows],
    );
    for (const [name, every] of Object.entries(oneIn)) {
      console.log(`metadata of one token in ${every}`);
      await query(
        `INSERT INTO token_terms (tenant_id, term, token_id, created_at, container, type)
         SELECT t.tenant_id, x.term, t.id, t.created_at, t.container, t.type
         FROM (SELECT *, row_number() OVER () AS n FROM tokens WHERE tenant_id = $2) t,
           token_terms x
         WHERE x.token_id = $1 AND t.n % $3 = 0 AND NOT t.id = ANY ($4::text[])`,
        [samples.get(name), tenant, every, [...samples.values()]],
      );
    }
    for (const { definition } of indexes) await query(definition);
    await query('DELETE FROM token_counts');
    await query(
      `INSERT INTO token_counts SELECT tenant_id, container, type, count(*)
       FROM tokens GROUP BY tenant_id, container, type`,
    );
    console.log(`${rows} lines of the audit log`);
    await query(
      `INSERT INTO audit_log (tenant_id, at, operation, entity_type, entity_id, outcome, trace_id)
       SELECT CASE WHEN n % 20 = 1 THEN $2::uuid ELSE $1::uuid END, now() - n * interval '100 ms',
         CASE WHEN n % 5000 = 0 THEN 'application.update' WHEN n % 2 = 0 THEN 'token.read'
           ELSE 'proxy.invoke' END,
         CASE WHEN n % 5000 = 0 THEN 'application' WHEN n % 2 = 0 THEN 'token' ELSE 'proxy' END,
         md5(n::text), 'success', 'bench'
       FROM generate_series(1, $3::int) n`,
      [tenant, other, rows],
    );
    await query('VACUUM ANALYZE tokens, token_terms, token_counts, audit_log');
  } finally {
    await database.end();
  }
}

/**
 * Calls of a week, one in 10,000 of which failed, and as many counts.
 *
 * @param {import('../tools/lib/types.js').Dev} dev
 * @param {number} rows
 */
async function fillCalls(dev, rows) {
  const database = new pg.Client({ connectionString: dev.databaseUrls.admin });
  await database.connect();
  const id = `overlay(lowest_id_at(moment)::text PLACING right(gen_random_uuid()::text, 21) FROM 16)::uuid`;
  const source = `generate_series(1, $2::int) n, LATERAL (SELECT now() - n * interval '7 days' / $2 AS moment,
    n % 10000 = 0 AS rare, md5((n % 100)::text)::uuid AS proxy) m`;
  try {
    console.log(`${rows} calls, and counts of calls`);
    await database.query(
      `INSERT INTO calls (tenant_id, id, method, path, outcome, status, code, proxy_id, trace_id,
         ended_ms, token_ids, count, created_at)
       SELECT $1, ${id}, 'POST', '/proxy', CASE WHEN rare THEN 'failed' ELSE 'completed' END, 200,
         CASE WHEN rare THEN 'destination_unreachable' END, proxy, 'bench', 5, '{}', 1, moment
       FROM ${source}`,
      [dev.tenantId, rows],
    );
    await database.query(
      `INSERT INTO call_summary (tenant_id, id, minute, path, proxy_id, outcome, calls, duration_ms,
         latencies, created_at)
       SELECT $1, ${id}, date_trunc('minute', moment), '/proxy', proxy,
         CASE WHEN n % 2 = 0 THEN 'failed' ELSE 'completed' END, 16, 1, array_fill(1, '{16}'), moment
       FROM ${source}`,
      [dev.tenantId, rows],
    );
    await database.query('VACUUM ANALYZE calls, call_summary');
  } finally {
    await database.end();
  }
}

/** One token in so many has this metadata. */
const oneIn = { all: 1, tenth: 10, few: 5_000 };

/** @param {import('../tools/lib/types.js').Dev} dev */
async function sampleTokens({ managementUrl, privateKey }) {
  /** @type {Map<string, string>} */
  const samples = new Map();
  for (const name of Object.keys(oneIn)) {
    const body = { data: 'bench', metadata: { [name]: 'yes' } };
    const { id } = await callOnce(managementUrl, { path: '/tokens', key: privateKey, body });
    samples.set(name, id);
  }
  return samples;
}
