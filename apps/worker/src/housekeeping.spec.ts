import { randomUUID } from 'node:crypto';
import { timeOrderedId } from '@glovebox/database';
import { forgetFailingPaths } from '@glovebox/runs';
import { createRegistry } from '@glovebox/service-host';
import { waitFor } from '@glovebox/testing';
import { createBackground } from './background';
import type { WorkerContext } from './context';
import { startSpecWorker, type SpecWorker } from './spec-worker';
import { byOwner, deleteInParts, deletionPauseMs, startHousekeeping } from './housekeeping';

let worker: SpecWorker;
let ctx: WorkerContext;

const tables = [
  'tokens',
  'token_terms',
  'data_keys',
  'idempotency_keys',
  'reactor_runs',
  'webhook_deliveries',
  'ended_runs',
  'ended_deliveries',
  'calls',
  'call_summary',
  'call_buckets',
  'repetitions',
  'gone_tokens',
  'code_texts',
  'captures',
  'webhook_listeners',
  'listened_webhooks',
];

beforeAll(async () => {
  worker = await startSpecWorker({ LOG_LEVEL: 'silent' });
});
afterAll(() => worker.close());
beforeEach(async () => {
  ctx = { ...worker.ctx, registry: createRegistry('worker') };
  for (const table of tables) await worker.admin.query(`DELETE FROM ${table}`);
});

/** Runs the housekeeping of so many workers at once until the condition holds. None may fail. */
async function keepHouse(until: () => Promise<boolean>, workers = 1): Promise<void> {
  const backgrounds = Array.from({ length: workers }, () => {
    const own = { ...ctx, registry: createRegistry('worker') };
    const background = createBackground(own);
    startHousekeeping(own, background);
    return { background, registry: own.registry };
  });
  try {
    await waitFor(until);
  } finally {
    await Promise.all(backgrounds.map(({ background }) => background.stop()));
  }
  for (const { registry } of backgrounds) {
    const failures = registry.getSingleMetric('glovebox_worker_background_failures_total');
    const { values = [] } = (await failures?.get()) ?? {};
    expect(values.length).toBeGreaterThan(0);
    expect(values.filter(({ value }) => value > 0)).toEqual([]);
  }
}

/** The distinct values of a column that are left. */
async function left(table: string, column: string): Promise<string[]> {
  const rows = await worker.admin.query<{ id: string }>(
    `SELECT DISTINCT ${column}::text AS id FROM ${table} ORDER BY 1`,
  );
  return rows.map(({ id }) => id);
}

const token = (tenantId: string, id: string, expires: string): Promise<unknown> =>
  worker.admin.query(
    `WITH token AS (
       INSERT INTO tokens (tenant_id, id, type, container, data, created_at, expires_at)
       VALUES ($1, $2, 'token', '/', '', to_timestamp(0), ${expires}) RETURNING tenant_id, id)
     SELECT 1 FROM token`,
    [tenantId, id],
  );
const term = (tenantId: string, id: string): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO token_terms (tenant_id, term, token_id) VALUES ($1, 'term', $2)`,
    [tenantId, id],
  );
const idempotencyKey = (name: string, usedBefore: string): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO idempotency_keys (tenant_id, application_id, path, key_hash, body_hash, owner,
       lease_until, created_at)
     VALUES ($1, $1, '/', $2, '', $1, now(), now() - interval '${usedBefore}')`,
    [worker.tenantId, name],
  );

/** Gives a tenant rows in all tables that its deletion leaves to housekeeping. */
async function stock(tenantId: string): Promise<void> {
  // It hears of the webhook below.
  await worker.admin.query(
    `INSERT INTO webhook_listeners (id, tenant_id, application_id, lease_until)
     VALUES (gen_random_uuid(), $1, $1, now() + interval '1 hour')`,
    [tenantId],
  );
  await worker.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, created_at)
     SELECT $1::uuid, $1::text || n, 'token', '/', '', now() FROM generate_series(1, 1500) n`,
    [tenantId],
  );
  await worker.admin.query(
    `INSERT INTO data_keys (id, tenant_id, period, master_version, wrapped)
     VALUES (gen_random_uuid(), $1, '2020-01', 1, '')`,
    [tenantId],
  );
  await worker.admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments,
       callback_url, timeout_ms, trace_id, created_at, due_at)
     VALUES (gen_random_uuid(), $1, $1, $1, 'pending', '', '', 1, '', now(), now())`,
    [tenantId],
  );
  await worker.admin.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, body, status,
       next_attempt_at, created_at)
     VALUES (gen_random_uuid(), $1, $1, '', '', '', 'pending', now(), now())`,
    [tenantId],
  );
  await endedRun(tenantId, timeOrderedId());
  await endedDelivery(tenantId, timeOrderedId(), '0');
  await loggedCall(tenantId, timeOrderedId());
  await countedCalls(tenantId, timeOrderedId());
  await repetition(tenantId);
  await formerCode(tenantId, randomUUID());
}

const repetition = (tenantId: string, ago = '0'): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO repetitions (tenant_id, run_id, repeats, created_at)
     VALUES ($1, gen_random_uuid(), $1, now() - $2::interval)`,
    [tenantId, ago],
  );

const endedRun = (tenantId: string, id: string, ago = '0'): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO ended_runs (tenant_id, id, kind, resource_id, mode, status, outcome, http_status,
       argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms, created_at, ended_at)
     VALUES ($1, $2, 'reactor', $2, 'sync', 'completed', 'completed', 200, '{}', '{}', '', 1, 0, 0,
       now() - $3::interval, now())`,
    [tenantId, id, ago],
  );
const loggedCall = (tenantId: string, id: string, ago = '0'): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO calls (tenant_id, id, method, path, outcome, token_ids, count, created_at)
     VALUES ($1, $2, 'GET', '/proxy', 'completed', '{}', 1, now() - $3::interval)`,
    [tenantId, id, ago],
  );
const countedCalls = (tenantId: string, id: string, ago = '0'): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO call_summary (tenant_id, id, minute, path, outcome, calls, duration_ms, latencies,
       created_at)
     VALUES ($1, $2, now(), '/proxy', 'completed', 1, 1, '{}', now() - $3::interval)`,
    [tenantId, id, ago],
  );
const formerCode = (tenantId: string, id: string, ago = '0'): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at)
     VALUES ($1, $2, '', now() - $3::interval)`,
    [tenantId, id, ago],
  );
const endedDelivery = (tenantId: string, id: string, endedBefore: string): Promise<unknown> =>
  worker.admin.query(
    `INSERT INTO ended_deliveries (tenant_id, id, run_id, webhook_id, status, callback_url, body,
       attempt_log, created_at, ended_at)
     VALUES ($1, $2, $2, '', 'failed', '', 'b', '[]', now(), now() - $3::interval)`,
    [tenantId, id, endedBefore],
  );

async function tenant(): Promise<string> {
  const id = randomUUID();
  await worker.define({ kind: 'tenant', id, tenantId: id, settings: {}, webhookSecrets: [] });
  await stock(id);
  return id;
}

const rowsOf = async (tenantId: string): Promise<number[]> => {
  const elsewhere = ['token_terms', 'idempotency_keys', 'gone_tokens'];
  const held = tables.filter((name) => !elsewhere.includes(name));
  const counts = held.map((table) => `(SELECT count(*) FROM ${table} WHERE tenant_id = $1)`);
  const [row] = await worker.admin.query<{ counts: number[] }>(
    `SELECT ARRAY[${counts.join()}]::int[] AS counts`,
    [tenantId],
  );
  return row?.counts ?? [];
};

async function deleteTenant(id: string): Promise<void> {
  await worker.deleteTenant(id);
  // Nobody reads its listeners any more.
  await worker.admin.query(
    'UPDATE webhook_listeners SET lease_until = now() WHERE tenant_id = $1',
    [id],
  );
}

it('a deleted tenant leaves nothing, and its neighbour keeps all that it has', async () => {
  const [gone, neighbour] = [await tenant(), await tenant()];
  await deleteTenant(gone);
  await keepHouse(async () => (await rowsOf(gone)).every((count) => count === 0));
  expect(await rowsOf(neighbour)).toEqual([1500, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 0, 1, 1]);
});

it('expired tokens are deleted with their search terms, and all others stay', async () => {
  const expiries = { expired: `now() - interval '1 second'`, later: `now() + interval '1 hour'` };
  for (const [id, expires] of Object.entries({ ...expiries, lasting: 'NULL' })) {
    await token(worker.tenantId, id, expires);
    await term(worker.tenantId, id);
  }
  await keepHouse(async () => !(await left('tokens', 'id')).includes('expired'));
  expect(await left('tokens', 'id')).toEqual(['lasting', 'later']);
  expect(await left('token_terms', 'token_id')).toEqual(['lasting', 'later']);
});

it('buckets of counts go after eight days, and what a run repeats with the runs', async () => {
  await worker.admin.query(
    `INSERT INTO call_buckets (tenant_id, minutes, starts, resource, outcome, path, calls, latencies)
     SELECT $1, 60, now() - days * interval '1 day', days::text, '', '/', 1, '{}'
     FROM unnest('{7,9}'::int[]) days`,
    [worker.tenantId],
  );
  for (const ago of ['29 days', '31 days']) await repetition(worker.tenantId, ago);
  await keepHouse(async () => {
    const buckets = await left('call_buckets', 'resource');
    return buckets.length === 1 && (await left('repetitions', 'run_id')).length === 1;
  }, 2);
  expect(await left('call_buckets', 'resource')).toEqual(['7']);
});

it('idempotency keys are deleted 24 hours after their use, and not before', async () => {
  await idempotencyKey('used long ago', '24 hours 1 second');
  await idempotencyKey('used lately', '23 hours 59 minutes');
  await keepHouse(async () => (await left('idempotency_keys', 'key_hash')).length < 2);
  expect(await left('idempotency_keys', 'key_hash')).toEqual(['used lately']);
});

it('sessions of the console go once they are over, with codes and sign-ins that nobody used', async () => {
  await worker.admin.query(
    `INSERT INTO tenants (id, name, settings, webhook_secrets, created_at)
     VALUES ($1, '', '{}', '', now()) ON CONFLICT DO NOTHING`,
    [worker.tenantId],
  );
  await worker.admin.query(
    `INSERT INTO people (id, tenant_id, issuer, subject, name, role, created_at)
     VALUES ($1, $1, '', '', '', 'admin', now())`,
    [worker.tenantId],
  );
  await worker.admin.query(
    `INSERT INTO console_sessions (id, tenant_id, person_id, key_hash, created_at, seen_at, machine)
     SELECT gen_random_uuid(), $1, $1, name, now() - made, now() - seen, machine FROM (VALUES
       ('silent', interval '1 hour', interval '30 minutes', null), ('old', '12 hours', '0', null),
       ('alive', '11 hours', '29 minutes', null), ('alive machine', '11 hours', '11 hours', 'a'),
       ('old machine', '12 hours', '0', 'a')) AS s (name, made, seen, machine)`,
    [worker.tenantId],
  );
  await worker.admin.query(
    `WITH codes AS (INSERT INTO console_codes (code_hash, tenant_id, person_id, expires_at)
       SELECT name, $1, $1, now() + left_over FROM (VALUES
         ('over', interval '0'), ('usable', interval '5 minutes')) AS c (name, left_over))
     INSERT INTO console_sign_ins (state_hash, nonce, verifier, binding_hash, expires_at)
     VALUES ('over', '', '', '', now()), ('begun', '', '', '', now() + interval '1 minute')`,
    [worker.tenantId],
  );
  await worker.admin.query(
    `INSERT INTO console_machines (device_hash, code_hash, machine, network, begun_at, expires_at)
     VALUES ('over', 'over', '', '', now(), now()),
       ('begun', 'begun', '', '', now(), now() + interval '1 minute')`,
  );
  await keepHouse(async () => (await left('console_sign_ins', 'state_hash')).length === 1);
  expect(await left('console_sessions', 'key_hash')).toEqual(['alive', 'alive machine']);
  expect(await left('console_machines', 'device_hash')).toEqual(['begun']);
  expect(await left('console_codes', 'code_hash')).toEqual(['usable']);
  expect(await left('console_sign_ins', 'state_hash')).toEqual(['begun']);
});

it('two workers that keep house at once delete each row once, and neither of them fails', async () => {
  const gone = [await tenant(), await tenant()];
  for (const id of gone) await deleteTenant(id);
  await worker.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, created_at, expires_at)
     SELECT $1, 'expired ' || n, 'token', '/', '', now(), now() - interval '1 second'
     FROM generate_series(1, 3000) n`,
    [worker.tenantId],
  );
  for (let nth = 0; nth < 20; nth += 1) await idempotencyKey(`used long ago ${nth}`, '25 hours');
  const nothingIsLeft = async (): Promise<boolean> => {
    const counts = await Promise.all([...gone, worker.tenantId].map(rowsOf));
    const keys = await left('idempotency_keys', 'key_hash');
    return counts.flat().every((count) => count === 0) && keys.length === 0;
  };
  await keepHouse(nothingIsLeft, 2);
});

it('a work that fails is counted and logged, and the others go on', async () => {
  await idempotencyKey('used long ago', '25 hours');
  await token(worker.tenantId, 'expired', `now() - interval '1 second'`);
  const logged: unknown[] = [];
  const logger = { ...ctx.logger, warn: (...line: unknown[]) => void logged.push(line) };
  const background = createBackground({ ...ctx, logger });
  await worker.admin.query('ALTER FUNCTION delete_expired_tokens(integer) RENAME TO away');
  try {
    startHousekeeping(ctx, background);
    await waitFor(async () => (await left('idempotency_keys', 'key_hash')).length === 0);
    await waitFor(() => logged.length === 1);
  } finally {
    await background.stop();
    await worker.admin.query('ALTER FUNCTION away(integer) RENAME TO delete_expired_tokens');
  }
  expect(logged).toEqual([
    [expect.objectContaining({ work: 'expired_tokens' }), 'background work failed'],
  ]);
  expect(await ctx.registry.metrics()).toMatch(
    /glovebox_worker_background_failures_total\{work="expired_tokens",app="worker"\} 1/,
  );
  expect(await left('tokens', 'id')).toEqual(['expired']);
});

it('deletes in parts, with a pause behind each full one', async () => {
  await worker.admin.query(
    `INSERT INTO failing_webhook_paths
     SELECT $1, nth::text, now() - interval '25 hours' FROM generate_series(1, 1500) nth`,
    [worker.tenantId],
  );
  const startedAt = performance.now();
  await deleteInParts(ctx.database, forgetFailingPaths, new AbortController().signal);
  // Two parts: one pause.
  expect(performance.now() - startedAt).toBeGreaterThan(deletionPauseMs - 1);
  expect(await left('failing_webhook_paths', 'path')).toEqual([]);
});

it('a path of webhooks whose last attempt failed a day ago is forgotten', async () => {
  await ctx.database.query(
    `INSERT INTO failing_webhook_paths
     SELECT $1, hours::text, now() - hours * interval '1 hour' FROM unnest('{23,25}'::int[]) hours`,
    [worker.tenantId],
  );
  await keepHouse(async () => (await left('failing_webhook_paths', 'path')).length === 1, 2);
  expect(await left('failing_webhook_paths', 'path')).toEqual(['23']);
});

it('results are erased a day after their webhook ended, and its line stays', async () => {
  const [old, young] = [timeOrderedId(), timeOrderedId()];
  await endedDelivery(worker.tenantId, old, '25 hours');
  await endedDelivery(worker.tenantId, young, '23 hours');
  const withBody = () => left('ended_deliveries WHERE body IS NOT NULL', 'id');
  await keepHouse(async () => (await withBody()).length === 1, 2);
  expect(await withBody()).toEqual([young]);
  expect(await left('ended_deliveries', 'id')).toEqual([old, young].sort());
});

describe('answers that show a token', () => {
  const sightOf = (...ids: string[]): string =>
    JSON.stringify([
      {
        applicationId: randomUUID(),
        container: '/',
        transform: 'reveal',
        ids,
        madeAt: ids.map(() => 0),
      },
    ]);
  const outcomeOf = (sights: string, tenantId = worker.tenantId, name = randomUUID()) =>
    worker.admin.query(
      `INSERT INTO idempotency_keys (tenant_id, application_id, path, key_hash, body_hash, owner,
         lease_until, created_at, status, response, sights, ended_at)
       VALUES ($1, $1, '/', $2, '', $1, now(), now(), 200, 'r', $3, now())`,
      [tenantId, name, sights],
    );
  const webhookOf = async (sights: string, tenantId = worker.tenantId): Promise<void> => {
    const id = timeOrderedId();
    await endedDelivery(tenantId, id, '0');
    await worker.admin.query('UPDATE ended_deliveries SET sights = $2 WHERE id = $1', [id, sights]);
  };
  const bodies = async (tenantId = worker.tenantId): Promise<number> => {
    const [row] = await worker.admin.query<{ count: number }>(
      `SELECT (SELECT count(*) FROM idempotency_keys WHERE tenant_id = $1 AND response IS NOT NULL)
         + (SELECT count(*) FROM ended_deliveries WHERE tenant_id = $1 AND body IS NOT NULL) AS count`,
      [tenantId],
    );
    return Number(row?.count);
  };
  const never = 'NULL';
  const makeSecondLookDue = () =>
    worker.admin.query(`UPDATE gone_tokens SET due_at = now() WHERE is_second`);

  it('are erased once it is deleted or expired, and those of others stay', async () => {
    const neighbour = randomUUID();
    for (const id of ['deleted', 'kept']) await token(worker.tenantId, id, never);
    await token(worker.tenantId, 'expiring', `now() - interval '1 second'`);
    await token(neighbour, 'deleted', never);
    for (const ids of [['deleted'], ['kept', 'deleted'], ['expiring'], ['kept'], []]) {
      await outcomeOf(sightOf(...ids));
      await webhookOf(sightOf(...ids));
    }
    await outcomeOf(sightOf('deleted'), neighbour);
    await webhookOf(sightOf('deleted'), neighbour);
    await worker.admin.query(`DELETE FROM tokens WHERE tenant_id = $1 AND id = 'deleted'`, [
      worker.tenantId,
    ]);
    // What is noted of a token behind the first look waits for the next one.
    await keepHouse(async () => (await left(`tokens WHERE id = 'expiring'`, 'id')).length === 0);
    await keepHouse(async () => (await bodies()) === 4, 2);
    expect([await bodies(), await bodies(neighbour)]).toEqual([4, 2]);
    expect(await left('ended_deliveries WHERE body IS NULL AND sights IS NULL', 'id')).toEqual([]);
  });

  it('are erased on a second look where they were stored at the same moment, and the token is then forgotten', async () => {
    await token(worker.tenantId, 'deleted', never);
    await ctx.database.query(`DELETE FROM tokens WHERE id = 'deleted'`);
    await keepHouse(
      async () => (await left('gone_tokens WHERE is_second', 'tenant_id')).length > 0,
    );
    await outcomeOf(sightOf('deleted'));
    await makeSecondLookDue();
    await keepHouse(async () => (await left('gone_tokens', 'tenant_id')).length === 0);
    expect(await bodies()).toBe(0);
  });

  it('are erased where the token is a new one under the old name, though they were stored after it', async () => {
    await token(worker.tenantId, 'named', never);
    await ctx.database.query(`DELETE FROM tokens WHERE id = 'named'`);
    await token(worker.tenantId, 'named', never);
    await outcomeOf(sightOf('named'));
    const anotherMadeAt = `to_timestamp(1) WHERE id = 'named'`;
    await worker.admin.query(`UPDATE tokens SET created_at = ${anotherMadeAt}`);
    await outcomeOf(JSON.stringify([{ ids: ['named'], madeAt: [1_000] }]));
    await keepHouse(
      async () => (await left('gone_tokens WHERE is_second', 'tenant_id')).length > 0,
    );
    expect(await bodies()).toBe(1);
  });

  it('are erased in parts, however many show the same token', async () => {
    await token(worker.tenantId, 'popular', never);
    await worker.admin.query(
      `INSERT INTO idempotency_keys (tenant_id, application_id, path, key_hash, body_hash, owner,
         lease_until, created_at, status, response, sights, ended_at)
       SELECT $1, $1, '/', n::text, '', $1, now(), now(), 200, 'r', $2, now()
       FROM generate_series(1, 2500) n`,
      [worker.tenantId, sightOf('popular')],
    );
    await ctx.database.query(`DELETE FROM tokens WHERE id = 'popular'`);
    expect(await byOwner('erase_gone_answers')(ctx.database, 1_000)).toBe(1_000);
    expect(await bodies()).toBe(1_500);
    await keepHouse(async () => (await bodies()) === 0);
  });

  it('wait for 5,000 tokens of others at a time, which no answer shows', async () => {
    const neighbour = randomUUID();
    await worker.admin.query(
      `INSERT INTO gone_tokens (tenant_id, key, due_at)
       SELECT $1, n, now() - interval '1 minute' FROM generate_series(1, 4999) n`,
      [neighbour],
    );
    await token(worker.tenantId, 'deleted', never);
    await outcomeOf(sightOf('deleted'));
    await ctx.database.query(`DELETE FROM tokens WHERE id = 'deleted'`);
    expect(await byOwner('erase_gone_answers')(ctx.database, 1_000)).toBe(5_000);
    expect(await bodies()).toBe(0);
  });

  it('are found by an index on every part of the log', async () => {
    const indexed = await left(`pg_indexes WHERE indexdef LIKE '%tokens_seen%'`, 'tablename');
    const parts = await left(`pg_partition_tree('ended_deliveries')`, 'relid::regclass');
    expect(indexed).toEqual([...parts, 'idempotency_keys'].sort());
  });
});

it('logs get partitions ahead, and lose what is older than the settings say', async () => {
  const dayMs = 24 * 60 * 60 * 1_000;
  const today = Math.floor(Date.now() / dayMs);
  const dayOf = (day: number): string => new Date(day * dayMs).toISOString();
  const [name] = (await left('log_partitions', 'name'))
    .filter((one) => /ended_runs/.test(one))
    .slice(-1);
  const [lines] = (await left('log_partitions', 'name')).filter((one) => /audit_log/.test(one));
  if (!name || !lines) throw new Error('there are no partitions');
  await worker.admin.query(`DROP TABLE ${name}`);
  await worker.admin.query(`ALTER TABLE ${lines} RENAME TO audit_log_until_20200201`);
  await worker.admin.transaction(async (sql) => {
    await sql.query('SET LOCAL ROLE glovebox_owner');
    for (const ago of [8, 7]) {
      const span = [dayOf(today - ago), dayOf(today - ago + 1)];
      await sql.query('SELECT make_partition($1, $2, $3)', ['ended_runs', ...span]);
    }
  });
  const [older, old, random] = [
    timeOrderedId((today - 8) * dayMs),
    timeOrderedId((today - 7) * dayMs),
    randomUUID(),
  ];
  await endedRun(worker.tenantId, older);
  await endedRun(worker.tenantId, old);
  await endedRun(worker.tenantId, random, '8 days');
  ctx = { ...ctx, config: { ...ctx.config, RUNS_KEPT_DAYS: 7 } };
  const partitions = () => left('log_partitions', 'name');
  await keepHouse(async () => {
    const [names, ids] = await Promise.all([partitions(), left('ended_runs', 'id')]);
    return ids.length === 1 && names.includes(name) && !names.includes('audit_log_until_20200201');
  });
  expect(await left('ended_runs', 'id')).toEqual([old]);
});

it('former code goes when the last of its runs have gone, and not before', async () => {
  const [gone, kept] = [randomUUID(), randomUUID()];
  await formerCode(worker.tenantId, gone, '32 days 1 minute');
  await formerCode(worker.tenantId, kept, '32 days -1 minute');
  await keepHouse(async () => (await left('code_texts', 'id')).length === 1);
  expect(await left('code_texts', 'id')).toEqual([kept]);
});

it('calls go after 7 days, and their counts after 30', async () => {
  const [oldCall, call, oldCounts, counts] = [1, 2, 3, 4].map(() => randomUUID());
  await loggedCall(worker.tenantId, oldCall ?? '', '7 days 1 minute');
  await loggedCall(worker.tenantId, call ?? '', '6 days');
  await countedCalls(worker.tenantId, oldCounts ?? '', '30 days 1 minute');
  await countedCalls(worker.tenantId, counts ?? '', '29 days');
  const rows = async (): Promise<string[]> => [
    ...(await left('calls', 'id')),
    ...(await left('call_summary', 'id')),
  ];
  await keepHouse(async () => (await rows()).length === 2, 2);
  expect(await rows()).toEqual([call, counts]);
});

it('captured calls go after a day, and with their tenant', async () => {
  const [neighbour, gone] = [randomUUID(), randomUUID()];
  await worker.admin.query(
    `INSERT INTO captures (tenant_id, id, proxy_id, trace_id, method, is_whole, messages, created_at)
     SELECT tenant, gen_random_uuid(), tenant, age, 'GET', false, '', now() - age::interval
     FROM unnest($1::uuid[]) tenant, unnest('{1 hour,23 hours,24 hours,9 days}'::text[]) age`,
    [[neighbour, gone]],
  );
  await worker.admin.query(
    `INSERT INTO definition_log (version, kind, id, tenant_id, payload)
     SELECT max(version) + 1, 'tenant', $1, $1, NULL FROM definition_log`,
    [gone],
  );
  await keepHouse(async () => (await left('captures', 'trace_id')).length === 2);
  await waitFor(async () => (await left('captures', 'tenant_id')).length === 1);
  expect((await left('captures', 'trace_id')).sort()).toEqual(['1 hour', '23 hours']);
  expect(await left('captures', 'tenant_id')).toEqual([neighbour]);
});

it('listeners to webhooks go with their lease, and what they did not hear with them', async () => {
  await worker.admin.query(
    `INSERT INTO webhook_listeners (id, tenant_id, application_id, lease_until)
     SELECT ('00000000-0000-4000-8000-00000000000' || nth)::uuid, $1, $1,
       now() + (nth - 1) * interval '1 minute' FROM generate_series(0, 2) nth`,
    [worker.tenantId],
  );
  await worker.admin.query(
    `INSERT INTO listened_webhooks (listener_id, tenant_id, delivery_id)
     SELECT ('00000000-0000-4000-8000-00000000000' || nth)::uuid, $1, $1 FROM generate_series(0, 3) nth`,
    [worker.tenantId],
  );
  const alive = ['00000000-0000-4000-8000-000000000002'];
  await keepHouse(async () => (await left('listened_webhooks', 'listener_id')).length === 1);
  await waitFor(async () => (await left('webhook_listeners', 'id')).length === 1);
  expect(await left('listened_webhooks', 'listener_id')).toEqual(alive);
  expect(await left('webhook_listeners', 'id')).toEqual(alive);
});

it('housekeeping that is told to stop begins no further part', async () => {
  const stopping = new AbortController();
  let parts = 0;
  await deleteInParts(
    ctx.database,
    (_sql, rowsMax) => {
      parts += 1;
      stopping.abort();
      return Promise.resolve(rowsMax);
    },
    stopping.signal,
  );
  expect(parts).toBe(1);
});
