import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';

const api = useTestApi();
/** One tenant gets half of the searches, which are half of these. */
const ownSearches = (): number => Math.ceil(api.ctx.config.SEARCH_CONNECTIONS / 4);

describe('while the searches of one tenant never end,', () => {
  const flood = 40;
  /** Every search for metadata waits for this lock; no other request does. */
  const whileSearchesHang = (work: () => Promise<void>): Promise<void> =>
    api.admin.transaction(async (sql) => {
      await sql.query('LOCK TABLE token_terms IN ACCESS EXCLUSIVE MODE');
      await work();
    });
  const search = (key: string) =>
    api.post('/tokens/search', { query: Array(20).fill('NOT metadata.a:b').join(' ') }, key);
  const underWay = async (): Promise<number> => {
    const [row] = await api.admin.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE application_name = 'management-api-searches' AND wait_event_type = 'Lock'`,
    );
    return row?.count ?? 0;
  };

  it('another tenant reads, stores and lists its tokens as usual', async () => {
    const victim = api.foreign.private_key;
    const { body } = await api.post('/tokens', { data: 1 }, victim);
    const { id } = body as { id: string };
    await whileSearchesHang(async () => {
      const attack = Array.from({ length: flood }, () => search(api.tenant.private_key).then());
      await waitFor(async () => (await underWay()) === ownSearches());
      const startedAt = performance.now();
      for (let n = 0; n < 10; n += 1) {
        expect((await api.get(`/tokens/${id}`, victim)).status).toBe(200);
        expect((await api.get('/tokens?type=token', victim)).status).toBe(200);
        expect((await api.get('/tenants/self')).status).toBe(200);
      }
      expect(performance.now() - startedAt).toBeLessThan(30 * 250);
      expect(await underWay()).toBeLessThanOrEqual(ownSearches());
      const answers = await Promise.all(attack);
      const codes = new Set(answers.map((answer) => (answer.body as { code: string }).code));
      expect([...codes].sort()).toEqual(['service_unavailable', 'share_exhausted']);
      for (const answer of answers) expect(answer.headers['retry-after']).toBe('1');
    });
  });

  it('its own lists are answered, a hundred at once', async () => {
    await whileSearchesHang(async () => {
      const attack = Array.from({ length: flood }, () => search(api.tenant.private_key).then());
      await waitFor(() => api.ctx.searches.shares.searches.state.waiting > 0);
      const lists = Array.from({ length: 100 }, () =>
        api.get('/tokens?type=token', api.tenant.private_key),
      );
      const statuses = (await Promise.all(lists)).map(({ status }) => status);
      expect(statuses).toEqual(Array(100).fill(200));
      await Promise.all(attack);
    });
  });

  it('its next search is answered as soon as they end', async () => {
    expect((await search(api.tenant.private_key)).status).toBe(200);
    expect(api.ctx.searches.shares.searches.state).toMatchObject({ held: 0, waiting: 0 });
  });
});
