import { randomUUID } from 'node:crypto';
import { matchKeysOf, type ProxyDefinition } from '@glovebox/definitions';
import { fastest } from '@glovebox/testing';
import { useTestApi } from '../spec-api';
import { refuseEqualMatches } from './proxy-match';

const api = useTestApi();

const text = expect.any(String) as string;
const proxy = (match?: unknown, more: object = {}) => ({
  name: 'p',
  destination_url: 'https://example.com',
  match,
  ...more,
});
const made = (match: unknown, more?: object, key?: string) =>
  api.made<{ id: string; match: object }>('/proxies', proxy(match, more), key);

let count = 0;
/** A host that no other test has. */
const host = (): string => `h${(count += 1)}.example`;

describe('the match of a proxy', () => {
  it('is kept in one spelling, answered, sent back without a change, and in force', async () => {
    const own = host();
    const { id, match } = await made({
      hosts: [`API.${own}.`, `*.${own}:8443`, `http://${own}:080`, `api.${own}:443`],
      methods: ['POST'],
      paths: ['/v1/', '/v%31/a%20b'],
    });
    const kept = {
      hosts: [`api.${own}`, `*.${own}:8443`, `http://${own}`],
      methods: ['POST'],
      paths: ['/v1', '/v1/a%20b'],
    };
    expect(match).toEqual(kept);
    // Not what is fresh at this moment: on a slow machine the lease may be over.
    const definitions = await api.ctx.definitions.follower.current();
    const inForce = definitions.find('proxy', api.tenant.tenant_id, id);
    expect(inForce).toMatchObject({ match: kept, forwardTo: null });
    const shown = (await api.get(`/proxies/${id}`)).body as object;
    expect((await api.put(`/proxies/${id}`, shown)).status).toBe(200);
    expect((await api.get(`/proxies/${id}`)).body).toMatchObject({ match: kept });
  });

  it('stays with {} in a PATCH, merges member by member, and goes with null', async () => {
    const own = host();
    const { id } = await made({ hosts: [own], methods: ['GET'] }, { forward_to: 'request' });
    const shown = async () => (await api.get(`/proxies/${id}`)).body as object;
    const before = await shown();
    expect((await api.patch(`/proxies/${id}`, {})).status).toBe(204);
    expect(await shown()).toEqual(before);
    await api.patch(`/proxies/${id}`, { match: { methods: null, paths: ['/v2'] } });
    expect(await shown()).toMatchObject({ match: { hosts: [own], paths: ['/v2'] } });
    expect(await shown()).not.toHaveProperty('match.methods');
    expect((await api.patch(`/proxies/${id}`, { match: null })).status).toBe(400);
    const gone = await api.patch(`/proxies/${id}`, { match: null, forward_to: null });
    expect(gone.status).toBe(204);
    expect(await shown()).not.toHaveProperty('match');
    expect(await shown()).not.toHaveProperty('forward_to');
  });

  it.each([
    ['no hosts', {}, 'match.hosts'],
    ['an empty list', { hosts: [] }, 'match.hosts'],
    ['a host with a path', { hosts: ['a.example/path'] }, 'match.hosts'],
    ['a wildcard within a label', { hosts: ['a*.example'] }, 'match.hosts'],
    ['more hosts than 20', { hosts: Array.from({ length: 21 }, host) }, 'match.hosts'],
    ['a long host', { hosts: ['a'.repeat(401)] }, 'match.hosts'],
    ['a host that is none', { hosts: [5] }, 'match.hosts'],
    [
      'a method that is not forwarded',
      { hosts: ['a.example'], methods: ['TRACE'] },
      'match.methods',
    ],
    ['a path that climbs', { hosts: ['a.example'], paths: ['/a/../b'] }, 'match.paths'],
    ['a path with an encoded slash', { hosts: ['a.example'], paths: ['/a%2fb'] }, 'match.paths'],
    [
      'a path that is long in its one spelling',
      { hosts: ['a.example'], paths: [`/${'é'.repeat(70)}`] },
      'match.paths',
    ],
    ['a path with parameters', { hosts: ['a.example'], paths: ['/a;b'] }, 'match.paths'],
    ['a path without a slash', { hosts: ['a.example'], paths: ['a'] }, 'match.paths'],
    ['a path with a query', { hosts: ['a.example'], paths: ['/a?b'] }, 'match.paths'],
  ])('with %s is refused by 400', async (_, match, member) => {
    const refused = await api.post('/proxies', proxy(match));
    expect([refused.status, refused.body]).toMatchObject([400, { errors: { [member]: [text] } }]);
  });

  it('has at most 400 combinations of hosts, methods and paths', async () => {
    const match = (paths: number) => ({
      hosts: Array.from({ length: 20 }, host),
      methods: ['GET', 'POST'],
      paths: Array.from({ length: paths }, (_, n) => `/${n}`),
    });
    await made(match(10));
    const refused = await api.post('/proxies', proxy(match(11)));
    expect([refused.status, refused.body]).toMatchObject([400, { errors: { match: [text] } }]);
  });

  it('is needed by forward_to', async () => {
    const refused = await api.post('/proxies', proxy(undefined, { forward_to: 'request' }));
    expect([refused.status, refused.body]).toMatchObject([400, { errors: { forward_to: [text] } }]);
  });

  it('that is as specific as that of another proxy is 409, by POST, PUT and PATCH', async () => {
    const own = host();
    const { id } = await made({ hosts: [own, host()], methods: ['GET', 'POST'], paths: ['/a'] });
    const same = { hosts: [host(), own.toUpperCase()], methods: ['POST'], paths: ['/a/'] };
    const refused = await api.post('/proxies', proxy(same));
    expect(refused.status).toBe(409);
    expect((refused.body as { detail: string }).detail).toContain(id);
    const other = await made({ hosts: [own], methods: ['POST'], paths: ['/a/b'] });
    expect((await api.put(`/proxies/${other.id}`, proxy(same))).status).toBe(409);
    const patch = { match: { paths: ['/a'] } };
    expect((await api.patch(`/proxies/${other.id}`, patch)).status).toBe(409);
    expect((await api.get(`/proxies/${other.id}`)).body).toMatchObject({
      match: { paths: ['/a/b'] },
    });
    // More and less specific ones, and those of another tenant, stand beside it.
    await made({ hosts: [own], paths: ['/a'] });
    await made({ hosts: [`${own}:8443`], methods: ['POST'], paths: ['/a'] });
    await made(same, {}, api.foreign.management_key);
    // What is gone conflicts with nothing.
    await api.delete(`/proxies/${id}`);
    await made(same);
  });

  it('of two proxies at the same moment is given to one of them', async () => {
    const same = proxy({ hosts: [host()] });
    const answers = await Promise.all(Array.from({ length: 4 }, () => api.post('/proxies', same)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('is compared with those of 3,000 proxies for all that one change writes at once', async () => {
    const own = host();
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    const matchOf = (name: string) => ({
      hosts: [own],
      methods,
      paths: Array.from({ length: 20 }, (_, at) => `/v1/${name}/${at}`),
    });
    const { id } = await made(matchOf('0'));
    const tenantId = api.tenant.tenant_id;
    await api.admin.query(
      `INSERT INTO proxies
       SELECT copy.* FROM proxies p, generate_series(1, 2999) AS n, jsonb_populate_record(p,
         jsonb_build_object('id', gen_random_uuid(), 'key_hash', gen_random_uuid(), 'match_keys',
           (SELECT jsonb_agg(replace(one, '/v1/0/', '/v1/' || n || '/'))
            FROM unnest(p.match_keys) AS one))) AS copy
       WHERE p.id = $1`,
      [id],
    );
    const definitions = Array.from({ length: 20 }, (_, n) => ({
      ...{ kind: 'proxy', id: randomUUID(), tenantId, match: matchOf(`new${n}`) },
    })) as unknown as ProxyDefinition[];
    const askMs = async (): Promise<number> => {
      const at = performance.now();
      await refuseEqualMatches(api.admin, tenantId, definitions);
      return performance.now() - at;
    };
    expect(await fastest(1_500, askMs)).toBeLessThan(1_500);
    expect(matchKeysOf(matchOf('1'))).toHaveLength(140);
    expect((await api.post('/proxies', proxy(matchOf('2999')))).status).toBe(409);
    await api.admin.query(`DELETE FROM proxies WHERE tenant_id = $1 AND match->'hosts' ? $2`, [
      tenantId,
      own,
    ]);
  });
});
