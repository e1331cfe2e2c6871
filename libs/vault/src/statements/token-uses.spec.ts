import { randomUUID } from 'node:crypto';
import { toProblem } from '@glovebox/problems';
import { enterTenant, fractionsFrom, testSeed, waitFor } from '@glovebox/testing';
import type { ContainerGrant } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import { useSpecVault } from '../spec-vault';
import {
  statementsMax,
  tenantStatementsMax,
  TokenUses,
  usesOneByOne,
  type UseReader,
  tokensTogetherMax,
  usesMax,
  usesTogetherMax,
} from './token-uses';
import { readUsesTogether, type AskedUse, type SealedToken, type Use } from './read-and-record';

const spec = useSpecVault({ connectionsMax: 20 });

interface Stored {
  readonly tenantId: string;
  readonly id: string;
  readonly container?: string;
  readonly data?: Buffer;
  readonly mask?: Buffer | null;
  readonly isExpired?: boolean;
}

async function store(tokens: readonly Stored[]): Promise<void> {
  await spec.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, mask, expires_at, created_at)
     SELECT n.tenant_id, n.id, 'token', n.container, n.data, n.mask,
       CASE WHEN n.expired THEN now() - interval '1 second' END, now()
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::boolean[])
       AS n (tenant_id, id, container, data, mask, expired)`,
    [
      tokens.map(({ tenantId }) => tenantId),
      tokens.map(({ id }) => id),
      tokens.map(({ container }) => container ?? '/general/'),
      tokens.map(({ tenantId, id, data }) => data ?? dataOf(tenantId, id)),
      tokens.map(({ mask }) => mask ?? null),
      tokens.map(({ isExpired }) => isExpired ?? false),
    ],
  );
}

const dataOf = (tenantId: string, id: string): Buffer => Buffer.from(`data of ${tenantId} ${id}`);
const everything: readonly ContainerGrant[] = [{ container: '/', transform: 'reveal' }];
const limits = { bytesMax: 10 * 1024 * 1024, atOnceMax: 128 * 1024 };

function useOf(tenantId: string, tokenIds: readonly string[], of: Partial<AskedUse> = {}) {
  const use = {
    tenantId,
    actorId: randomUUID(),
    operation: 'proxy.invoke',
    entityType: 'proxy',
    entityId: randomUUID(),
    traceId: randomUUID(),
    destinationHost: 'bank.example',
  };
  return { use, grants: everything, tokenIds, limits, ...of } satisfies AskedUse;
}

/** Without what makes two records of the same use differ. */
const linesOf = (traceId: string): Promise<object[]> =>
  spec.admin.query(
    `SELECT tenant_id, actor_id, operation, entity_type, entity_id, outcome, token_ids, destination_host
     FROM audit_log WHERE trace_id = $1`,
    [traceId],
  );
const linesNow = async (): Promise<number> =>
  (await spec.admin.query<{ lines: number }>('SELECT count(*)::int AS lines FROM audit_log'))[0]
    ?.lines ?? 0;

/** Uses that share statements on a real pool, and the statements that they have sent. */
function watched(database = spec.data) {
  const together: number[][] = [];
  const alone: unknown[] = [];
  const underWay: string[][] = [];
  let most = 0;
  let mostOfOne = 0;
  const shared: Sql = {
    query: async (statement, values = []) => {
      const [first] = values;
      const isShared = typeof statement === 'object' && statement.name.endsWith('together');
      const asked = (isShared ? JSON.parse(String(first)) : [{ tenant_id: first }]) as {
        tenant_id: string;
        token_ids: string[];
      }[];
      if (isShared) together.push(asked.map(({ token_ids }) => token_ids.length));
      else alone.push(first);
      const tenantIds = [...new Set(asked.map(({ tenant_id }) => tenant_id))];
      underWay.push(tenantIds);
      most = Math.max(most, underWay.length);
      for (const tenantId of tenantIds) {
        const own = underWay.filter((others) => others.includes(tenantId));
        mostOfOne = Math.max(mostOfOne, own.length);
      }
      return database
        .query<never>(statement, values)
        .finally(() => underWay.splice(underWay.indexOf(tenantIds), 1));
    },
  };
  const shareOf = (owner: string): Sql =>
    owner === 'uses of tokens'
      ? shared
      : {
          query: (statement, values) => {
            alone.push(owner);
            return database.query(statement, values);
          },
        };
  const uses = new TokenUses({ shareOf, shares: { hasRoom: () => true } });
  return { uses, together, alone, most: () => ({ atOnce: most, ofOneTenant: mostOfOne }) };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (error: unknown) => toProblem(error).code,
  );

describe('uses of tokens in one statement', () => {
  it('get each its own tokens, for two tenants with the same ids, foreign ids and different rules', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    const mask = Buffer.from('mask');
    await store([
      { tenantId: a, id: 'same' },
      { tenantId: b, id: 'same' },
      { tenantId: a, id: 'of-a' },
      { tenantId: b, id: 'of-b', container: '/pci/', mask },
      { tenantId: b, id: 'expired', isExpired: true },
    ]);
    const denied: readonly ContainerGrant[] = [
      { container: '/pci/', transform: 'redact' },
      { container: '/', transform: 'reveal' },
    ];
    const masked: readonly ContainerGrant[] = [{ container: '/pci/', transform: 'mask' }];
    const all = [
      useOf(a, ['same', 'of-a']),
      useOf(b, ['same']),
      useOf(a, ['same', 'of-b']),
      useOf(b, ['of-b', 'same'], { grants: denied }),
      useOf(b, ['of-b'], { grants: masked }),
      useOf(b, ['of-b']),
      useOf(b, ['same', 'of-b'], { grants: masked }),
      useOf(b, ['same', 'expired']),
      useOf(a, ['nowhere']),
      useOf(a, ['same', 'of-a'], { limits: { ...limits, bytesMax: 20, atOnceMax: 10 } }),
      useOf(a, ['same'], { grants: [] }),
    ];
    const { uses, together, alone } = watched();
    const answers = await Promise.all(all.map((asked) => uses.read(asked)));
    expect(together.map((statement) => statement.length)).toEqual([all.length]);
    expect(alone).toEqual([]);
    const given = answers.map((tokens) => tokens.map(({ sealed }) => sealed?.toString() ?? null));
    expect(given).toEqual([
      [`data of ${a} same`, `data of ${a} of-a`],
      [`data of ${b} same`],
      [null],
      [null, null],
      ['mask'],
      [`data of ${b} of-b`],
      [null, null],
      [null],
      [],
      [null, null],
      [null],
    ]);
    const lines = (await Promise.all(all.map(({ use }) => linesOf(use.traceId)))) as {
      outcome: string;
      token_ids: string[];
    }[][];
    expect(
      lines.map((own) => own.map(({ outcome, token_ids }) => [outcome, ...token_ids])),
    ).toEqual([
      [['success', 'same', 'of-a']],
      [['success', 'same']],
      [['refused', 'same']],
      [['refused', 'of-b', 'same']],
      [['success', 'of-b']],
      [['success', 'of-b']],
      [['refused', 'same', 'of-b']],
      [['refused', 'same']],
      [['refused']],
      [['refused', 'same', 'of-a']],
      [['refused', 'same']],
    ]);
  });

  const seed = testSeed();
  it(`get the same tokens and audit line as each gets alone (TEST_SEED=${seed})`, async () => {
    const random = fractionsFrom(seed);
    const pick = <Value>(values: readonly Value[]): Value =>
      values[Math.floor(random() * values.length)] as Value;
    const tenants = [randomUUID(), randomUUID(), randomUUID()];
    const containers = ['/', '/general/', '/pci/', '/pci/high/', '/pci/higher/'];
    const transforms = ['reveal', 'mask', 'redact'] as const;
    const names = [`a"b',c`, 'é😀', '$1::text', 'null', '(0,0)', ...'ghijklmnop'].map(
      (n) => `id-${n}`,
    );
    await store(
      tenants.flatMap((tenantId) =>
        names
          .filter(() => random() < 0.7)
          .map((id) => ({
            tenantId,
            id,
            container: pick(containers),
            data: Buffer.alloc(random() < 0.1 ? 40_000 : 1 + random() * 100, `${tenantId}${id}`),
            mask: random() < 0.5 ? Buffer.alloc(random() * 50, id) : null,
            isExpired: random() < 0.1,
          })),
      ),
    );
    const anyUse = (): AskedUse => {
      const asked = useOf(
        pick(tenants),
        names.filter(() => random() < 0.25),
        {
          grants: Array.from({ length: Math.floor(random() * 4) }, () => ({
            container: pick(containers),
            transform: pick(transforms),
          })),
        },
      );
      const actorId = random() < 0.2 ? null : asked.use.actorId;
      const use: Use = { ...asked.use, actorId, operation: pick(names) };
      const { destinationHost: _, ...hostless } = use;
      return {
        ...asked,
        use: random() < 0.2 ? hostless : use,
        ...(random() < 0.2
          ? { limits: { bytesMax: random() < 0.5 ? 60 : 90_000, atOnceMax: 50 } }
          : {}),
      };
    };
    const alone: UseReader = usesOneByOne(() => spec.data);
    const byId = (tokens: SealedToken[]) => tokens.sort((x, y) => (x.id < y.id ? -1 : 1));
    const outcomeOf = async (reader: UseReader, asked: AskedUse) => {
      const use = { ...asked.use, traceId: randomUUID() };
      const tokens = await reader.read({ ...asked, use });
      return { tokens: byId(tokens), lines: await linesOf(use.traceId) };
    };
    const { uses, together } = watched();
    for (let round = 0; round < 3; round += 1) {
      const all = Array.from({ length: 120 }, anyUse);
      const shared = await Promise.all(all.map((asked) => outcomeOf(uses, asked)));
      for (const [n, asked] of all.entries()) {
        expect({ asked, ...shared[n] }).toEqual({ asked, ...(await outcomeOf(alone, asked)) });
      }
    }
    expect(Math.max(...together.map((statement) => statement.length))).toBeGreaterThan(20);
    expect(uses.places.state).toMatchObject({ held: 0, waiting: 0 });
  });

  it('are at most 64 with 400 tokens, in 4 statements at once, 2 with one tenant; tenants take turns', async () => {
    const floods = [randomUUID(), randomUUID(), randomUUID()];
    const other = randomUUID();
    const ids = Array.from({ length: 100 }, (_, n) => `token-${n}`);
    const { uses, together, most } = watched();
    const order: string[] = [];
    const ask = async (tenantId: string, tokens: number): Promise<void> => {
      await uses.read(useOf(tenantId, ids.slice(0, tokens)));
      order.push(tenantId);
    };
    const all = Array.from({ length: 100 }, (_, n) =>
      floods.map((tenantId) => ask(tenantId, n < 50 ? 1 : 100)),
    ).flat();
    await Promise.all([...all, ask(other, 1)]);
    expect(order.indexOf(other)).toBeLessThanOrEqual(tenantStatementsMax * usesTogetherMax);
    expect(together[0]).toHaveLength(usesTogetherMax);
    const tokens = together.map((statement) => statement.reduce((sum, n) => sum + n, 0));
    expect(Math.max(...tokens)).toBeLessThanOrEqual(tokensTogetherMax);
    expect(most().atOnce).toBeLessThanOrEqual(statementsMax);
    expect(most()).toMatchObject({ ofOneTenant: tenantStatementsMax });
  });

  it('do not wait for one of more than 32 KiB, which is recorded once', async () => {
    const tenantId = randomUUID();
    const large = Buffer.alloc(40_000, 'x');
    await store([
      { tenantId, id: 'large', data: large },
      { tenantId, id: 'small' },
    ]);
    const { uses, together, alone } = watched();
    const [asked, small] = [useOf(tenantId, ['large', 'small']), useOf(tenantId, ['small'])];
    const [got] = await Promise.all([uses.read(asked), uses.read(small)]);
    expect(got.find(({ id }) => id === 'large')?.sealed).toEqual(large);
    expect([together, alone]).toEqual([[[2, 1]], [tenantId]]);
    expect(await linesOf(asked.use.traceId)).toHaveLength(1);
  });

  it('are recorded even if their callers have left, and keep no place', async () => {
    const tenantId = randomUUID();
    await store([{ tenantId, id: 'one' }]);
    const { uses } = watched();
    const all = Array.from({ length: 5 }, () => useOf(tenantId, ['one']));
    for (const asked of all) void uses.read(asked);
    await waitFor(() => uses.places.state.held === 0);
    for (const { use } of all) expect(await linesOf(use.traceId)).toHaveLength(1);
  });

  it('become the statement for one if there is only one use', async () => {
    const tenantId = randomUUID();
    await store([{ tenantId, id: 'one' }]);
    const { uses, together, alone } = watched();
    expect(await uses.read(useOf(tenantId, ['one']))).toHaveLength(1);
    expect([together, alone]).toEqual([[], [tenantId]]);
  });
});

describe('a faulty use', () => {
  it.each([
    ['an actor that is no UUID', { actorId: 'nobody' }],
    ['a trace id that Postgres cannot store', { traceId: 'a\u0000b' }],
    ['a tenant that is no UUID', { tenantId: `'); DELETE FROM tokens; --` }],
  ])('fails alone with %s, and the others of its statement are recorded once', async (_, fault) => {
    const tenantId = randomUUID();
    await store([{ tenantId, id: 'one' }]);
    const { uses } = watched();
    const asked = useOf(tenantId, ['one']);
    const wrong = { ...asked, use: { ...asked.use, ...fault } };
    const good = Array.from({ length: 10 }, () => useOf(tenantId, ['one']));
    const failing = uses.read(wrong).catch((error: unknown) => error);
    const answers = await Promise.all(good.map((each) => uses.read(each)));
    expect(answers.map(([token]) => token?.sealed?.toString())).toEqual(
      Array(10).fill(`data of ${tenantId} one`),
    );
    expect(await failing).toMatchObject({ code: expect.stringMatching(/^22/) as unknown });
    for (const { use } of good) expect(await linesOf(use.traceId)).toHaveLength(1);
    expect(uses.places.state.held).toBe(0);
  });
});

describe('uses of tokens', () => {
  /** Nothing is recorded, and so nothing answered, as long as `work` lasts. */
  const whileNothingIsRecorded = (work: () => Promise<void>): Promise<void> =>
    spec.admin.transaction(async (sql) => {
      await sql.query('LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE');
      await work();
    });
  const backendsThatWait = (): Promise<{ pid: number }[]> =>
    spec.admin.query(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'spec' AND wait_event_type = 'Lock'`,
    );

  it('fail at once if Postgres ends their connection, and are neither repeated nor recorded', async () => {
    const tenantId = randomUUID();
    await store([{ tenantId, id: 'one' }]);
    const { uses, together, alone } = watched();
    const before = await linesNow();
    await whileNothingIsRecorded(async () => {
      const all = Array.from({ length: 10 }, () => codeOf(uses.read(useOf(tenantId, ['one']))));
      const pid = await waitFor(async () => (await backendsThatWait())[0]?.pid);
      await spec.admin.query('SELECT pg_terminate_backend($1)', [pid]);
      expect(await Promise.all(all)).toEqual(Array(10).fill('service_unavailable'));
    });
    expect([together.length, alone.length]).toEqual([1, 0]);
    expect(await linesNow()).toBe(before);
  });

  it('get no data, any of them, if the record cannot be written', async () => {
    const tenantId = randomUUID();
    await store([{ tenantId, id: 'one' }]);
    const { uses, alone } = watched();
    await spec.admin.query('REVOKE INSERT ON audit_log FROM glovebox_data');
    try {
      const all = Array.from({ length: 5 }, () => codeOf(uses.read(useOf(tenantId, ['one']))));
      expect(await Promise.all(all)).toEqual(Array(5).fill('service_unavailable'));
    } finally {
      await spec.admin.query('GRANT INSERT ON audit_log TO glovebox_data');
    }
    expect(alone).toEqual([]);
  });

  it('wait in bounded number and time while Postgres stands still, each tenant within its share', async () => {
    const [flood, ...others] = Array.from({ length: 4 }, () => randomUUID());
    const { uses } = watched();
    const ask = (tenantId = '') => codeOf(uses.read(useOf(tenantId, ['one'])));
    const inStatements = tenantStatementsMax * usesTogetherMax;
    let asked: Promise<string>[] = [];
    const ofOthers: Promise<string>[] = [];
    await whileNothingIsRecorded(async () => {
      asked = Array.from({ length: 1_000 }, () => ask(flood));
      expect(uses.places.heldBy(flood ?? '')).toBe(usesMax / 2);
      const refused = await Promise.all(asked.slice(usesMax / 2));
      expect(new Set(refused)).toEqual(new Set(['share_exhausted']));
      await waitFor(async () => (await backendsThatWait()).length === tenantStatementsMax);
      for (const [nth, other] of others.slice(0, 2).entries()) {
        ofOthers.push(ask(other));
        const sent = tenantStatementsMax + nth + 1;
        await waitFor(async () => (await backendsThatWait()).length === sent);
      }
      expect(await ask(others[2])).toBe('service_unavailable');
      const late = await Promise.all(asked.slice(inStatements, usesMax / 2));
      expect(new Set(late)).toEqual(new Set(['share_exhausted']));
    });
    asked = asked.slice(0, inStatements);
    expect(new Set(await Promise.all([...asked, ...ofOthers]))).toEqual(new Set(['answered']));
    expect(uses.places.state).toMatchObject({ held: 0, waiting: 0 });
  });
});

it('a tenant with as many uses of 100 tokens under way as it may have slows no other tenant down', async () => {
  const [flood, other] = [randomUUID(), randomUUID()];
  const ids = Array.from({ length: 100 }, (_, n) => `token-${n}`);
  await store([...ids.map((id) => ({ tenantId: flood, id })), { tenantId: other, id: 'one' }]);
  const nearlyAll = async (): Promise<number> => {
    const durations: number[] = [];
    for (let nth = 0; nth < 100; nth += 1) {
      const begun = performance.now();
      await spec.uses.read(useOf(other, ['one']));
      durations.push(performance.now() - begun);
    }
    return durations.sort((x, y) => x - y)[98] ?? Infinity;
  };
  const quiet = await nearlyAll();
  const ending = new AbortController();
  const held = Array.from({ length: usesMax / 2 }, async () => {
    while (!ending.signal.aborted) await codeOf(spec.uses.read(useOf(flood, ids)));
  });
  await waitFor(() => spec.uses.places.heldBy(flood) === usesMax / 2);
  const beside = await nearlyAll();
  ending.abort();
  await Promise.all(held);
  expect(beside).toBeLessThan(Math.max(5 * quiet, 250));
});

it('a tenant that holds its share of the connections waits with its uses of tokens, and no other tenant does', async () => {
  const [slow, other] = [randomUUID(), randomUUID()];
  await store([
    { tenantId: slow, id: 'one' },
    { tenantId: other, id: 'one' },
  ]);
  const held = Array.from({ length: 10 }, () =>
    spec.data.shareOf(slow).query('SELECT pg_sleep(1)'),
  );
  await waitFor(() => spec.data.shares.heldBy(slow) === 10);
  const answered: string[] = [];
  const read = async (tenantId: string): Promise<void> => {
    await spec.uses.read(useOf(tenantId, ['one']));
    answered.push(tenantId);
  };
  const own = read(slow);
  await waitFor(() => spec.data.shares.state.waiting === 1);
  for (let nth = 0; nth < 10; nth += 1) await read(other);
  expect(answered).toEqual(Array(10).fill(other));
  await Promise.all([...held, own]);
});

describe('under row-level security', () => {
  it('a statement of several tenants gives nothing of a tenant that was not entered, nor does one without a condition', async () => {
    const [entered, foreign] = [randomUUID(), randomUUID()];
    await store([
      { tenantId: entered, id: 'mine' },
      { tenantId: foreign, id: 'mine' },
      { tenantId: foreign, id: 'theirs' },
    ]);
    const { management } = spec;
    const asEntered = <Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> =>
      management.transaction(async (sql) => {
        await enterTenant(sql, entered);
        return work(sql);
      });
    const [rights] = await management.query(
      `SELECT rolsuper OR rolbypassrls AS passes, pg_get_userbyid(relowner) = current_user AS owns
       FROM pg_roles, pg_class WHERE rolname = current_user AND relname = 'tokens'`,
    );
    expect(rights).toEqual({ passes: false, owns: false });
    const withoutCondition = (sql: Sql) => sql.query('SELECT tenant_id, id FROM tokens');
    expect(await withoutCondition(management)).toEqual([]);
    expect(await asEntered(withoutCondition)).toEqual([{ tenant_id: entered, id: 'mine' }]);

    const own = useOf(entered, ['mine']);
    const stranger = useOf(entered, ['theirs']);
    const answers = await asEntered((sql) => readUsesTogether(sql, [own, stranger]));
    expect(answers).toMatchObject([[{ id: 'mine', sealed: dataOf(entered, 'mine') }], []]);
    const theirs = useOf(foreign, ['mine']);
    const both = asEntered((sql) => readUsesTogether(sql, [own, theirs]));
    expect(await codeOf(both)).toBe('service_unavailable');
    expect(await linesOf(theirs.use.traceId)).toEqual([]);
  });
});
