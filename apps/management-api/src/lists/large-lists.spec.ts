import { randomUUID } from 'node:crypto';
import { waitFor } from '@glovebox/testing';
import { asSql, inTenant } from '../database/in-tenant';
import { matchingRows, readListQuery } from './listing';
import { Reactor } from '../entities/reactor.entity';
import { scansOf, vacuum } from '../spec-plans';
import { useTestApi } from '../spec-api';

const count = 100_000;
const batch = 10_000;
const api = useTestApi();

beforeAll(async () => {
  const formula = { name: 'f', code: 'module.exports = () => 1' };
  const { id: formulaId } = (await api.post('/reactor-formulas', formula)).body as { id: string };
  await insertReactors(formulaId);
});

/** Inserts rows like those of the API: each configuration is sealed to its own row. */
async function insertReactors(formulaId: string): Promise<void> {
  const { tenant_id: tenantId } = api.tenant;
  for (let first = 0; first < count; first += batch) {
    const ids = Array.from({ length: batch }, () => randomUUID());
    const sealed = await Promise.all(
      ids.map((record) =>
        api.ctx.sealer.seal({ table: 'reactors', column: 'configuration', tenantId, record }, '{}'),
      ),
    );
    await api.admin.query(
      `INSERT INTO reactors
         (id, tenant_id, name, formula_id, configuration, isolation, created_at)
       SELECT id, $3, 'reactor ' || ($4 + n), $5, configuration, 'warm',
         now() - interval '1 day' + ($4 + n) * interval '1 millisecond'
       FROM unnest($1::uuid[], $2::bytea[]) WITH ORDINALITY AS r (id, configuration, n)`,
      [ids, sealed, tenantId, first - 1, formulaId],
    );
  }
  // Postgres would read a table of a single tenant whole rather than by index. So there are others.
  await api.admin.query(
    `INSERT INTO reactors (id, tenant_id, name, formula_id, configuration, isolation, created_at)
     SELECT gen_random_uuid(), $1, name, formula_id, configuration, isolation, created_at
     FROM reactors`,
    [api.foreign.tenant_id],
  );
  await waitFor(() => vacuum(api.admin, 'reactors'), { timeoutMs: 30_000 });
}

const queries = [
  '',
  'page=1&size=100',
  'page=1000&size=100',
  'name=reactor 4711',
  'name=*4711*',
  'name=*999*&page=3',
  'name=reactor*&page=1000&size=100',
  `id=${randomUUID()}`,
];

describe('a tenant with 100,000 reactors', () => {
  it.each(queries)('reads no whole table for the list %j', async (text) => {
    const query = readListQuery(new URLSearchParams(text));
    const { tenant_id: tenantId } = api.tenant;
    await inTenant(api.ctx.dataSource, tenantId, async (manager) => {
      const { page, size } = query;
      const matching = matchingRows(manager, Reactor, tenantId, query);
      const rows = matching.clone().offset((page - 1) * size);
      for (const statement of [matching.limit(10_001), rows.limit(size + 1)]) {
        const kinds = await scansOf(
          asSql(manager),
          'reactors',
          ...statement.getQueryAndParameters(),
        );
        expect(kinds.length).toBeGreaterThan(0);
        for (const kind of kinds) expect(kind).toMatch(/Index|Bitmap/);
      }
    });
  });

  it('gets every list answered', async () => {
    const took: Record<string, number> = {};
    for (const text of queries) {
      const startedAt = performance.now();
      const answer = await api.get(`/reactors?${text.replaceAll(' ', '%20')}`);
      took[text] = Math.round(performance.now() - startedAt);
      expect(answer.status).toBe(200);
    }
    process.stdout.write(`lists of ${count} reactors, ms: ${JSON.stringify(took)}\n`);
    const last = (await api.get('/reactors?page=1000&size=100')).body as {
      pagination: { total_items: number; total_pages: number };
      data: { name: string }[];
    };
    expect(last.pagination).toMatchObject({ total_items: count, total_pages: 1_000 });
    expect(last.data.at(-1)?.name).toBe('reactor 0');
  });
});
