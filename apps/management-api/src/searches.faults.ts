import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@glovebox/testing';
import { vacuum } from './spec-plans';
import { useTestApi } from './spec-api';

const tokens = 40_000;
const searchesPerSecond = 20;
const seconds = 10;
const terms = ['number:odd', 'half:first', 'all:yes'];

const api = useTestApi();

beforeAll(async () => {
  const attacker = api.tenant.private_key;
  const metadata = Object.fromEntries(terms.map((term) => term.split(':')));
  const { status } = await api.post('/tokens', { data: 1, metadata }, attacker);
  expect(status).toBe(201);
  // Copies of that token, found by the same terms.
  await api.admin.query(
    `INSERT INTO tokens (tenant_id, id, type, container, data, metadata, fingerprint, created_at)
     SELECT tenant_id, gen_random_uuid(), type, container, data, metadata, fingerprint, created_at
     FROM tokens, generate_series(2, ${tokens}) WHERE tenant_id = $1`,
    [api.tenant.tenant_id],
  );
  await api.admin.query(
    `INSERT INTO token_terms (tenant_id, term, token_id)
     SELECT tenant_id, terms.term, tokens.id FROM tokens
     JOIN (SELECT DISTINCT tenant_id, term FROM token_terms) terms USING (tenant_id)
     WHERE tenant_id = $1 AND random() < 0.5 ON CONFLICT DO NOTHING`,
    [api.tenant.tenant_id],
  );
  for (const table of ['tokens', 'token_terms']) await waitFor(() => vacuum(api.admin, table));
});

function p99(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Infinity;
}

it('a tenant that searches 40,000 tokens twenty times a second does not slow the reads of others', async () => {
  const victim = api.foreign.private_key;
  const { id } = (await api.post('/tokens', { data: 1 }, victim)).body as { id: string };
  const readsWhile = async (isOver: () => boolean): Promise<number[]> => {
    const times: number[] = [];
    while (!isOver()) {
      const startedAt = performance.now();
      expect((await api.get(`/tokens/${id}`, victim)).status).toBe(200);
      times.push(performance.now() - startedAt);
    }
    return times;
  };
  const quietUntil = performance.now() + 2_000;
  const quiet = p99(await readsWhile(() => performance.now() > quietUntil));

  const query = Array.from({ length: 20 }, (_, n) => `NOT metadata.${terms[n % 3] ?? ''}`).join(
    ' ',
  );
  const attack: Promise<number>[] = [];
  let isOver = false;
  const reading = readsWhile(() => isOver);
  for (let n = 0; n < searchesPerSecond * seconds; n += 1) {
    attack.push(
      api.post('/tokens/search', { query }, api.tenant.private_key).then((a) => a.status),
    );
    await sleep(1_000 / searchesPerSecond);
  }
  isOver = true;
  const times = await reading;
  expect(p99(times)).toBeLessThan(Math.max(5 * quiet, 250));
  const statuses = await Promise.all(attack);
  expect(statuses).toContain(200);
  expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
});
