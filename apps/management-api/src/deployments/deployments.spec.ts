import { randomUUID } from 'node:crypto';
import type { Response, Test } from 'supertest';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';
import type { DeploymentResponse } from './deployments.dto';

const api = useTestApi();

const codeOf = (text: string): string => `module.exports = () => ({ raw: '${text}' });`;
const application = { kind: 'application', slug: 'checkout', name: 'Checkout', type: 'private' };
const acting = { ...application, permissions: ['token:use'] };
const formula = {
  code: codeOf('one'),
  configuration: [
    { name: 'API_KEY', type: 'string' },
    { name: 'LIMIT', type: 'number' },
  ],
};
const reactor = {
  ...{ kind: 'reactor', slug: 'charge', name: 'Charge', application: { slug: 'checkout' } },
  ...{ formula, configuration: { API_KEY: 'sesame', LIMIT: 7 } },
};
const proxy = {
  ...{ kind: 'proxy', slug: 'bank', name: 'Bank', destination_url: 'https://bank.example' },
  ...{ request_transform: { code: codeOf('request') }, configuration: { TOKEN: 'sesame' } },
};
const all = [acting, reactor, proxy];

const deploy = async (
  items: readonly object[],
  more: object = {},
  key?: string,
): Promise<DeploymentResponse> => {
  const answer = await api.post('/deployments', { items, ...more }, key);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body as DeploymentResponse;
};
const refused = async (items: readonly object[], more: object = {}): Promise<Response> =>
  api.post('/deployments', { items, ...more });
const rollback = async (id = '', more: object = {}): Promise<DeploymentResponse> => {
  const answer = await api.post(`/deployments/${id}/rollback`, more);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body as DeploymentResponse;
};
const changed = ({ changes }: DeploymentResponse): string[] =>
  changes.map(({ slug, change, members }) => [slug, change, ...(members ?? [])].join(' ')).sort();
const idOf = ({ changes }: DeploymentResponse, slug: string): string =>
  changes.find((one) => one.slug === slug)?.id ?? '';
const head = async (): Promise<unknown> =>
  (await api.admin.query('SELECT version FROM definition_head'))[0];
const stored = async (): Promise<unknown> =>
  api.admin.query(
    `SELECT kind, id, version FROM definition_log WHERE tenant_id = $1 ORDER BY version`,
    [api.tenant.tenant_id],
  );
const shownBy = async (path: string): Promise<Record<string, unknown>> =>
  (await api.get(path)).body as Record<string, unknown>;

/** Each test begins where nothing was deployed. */
beforeEach(async () => {
  for (const table of ['reactors', 'proxies', 'reactor_formulas', 'deployments']) {
    await api.admin.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [api.tenant.tenant_id]);
  }
  await api.admin.query('DELETE FROM applications WHERE slug IS NOT NULL');
});

describe('the value that a step appends', () => {
  const append = (name: string, value: object) => ({
    type: 'append',
    options: { location: 'header', name, ...value },
  });
  const withSteps = (...steps: object[]) => ({ ...proxy, request_transforms: steps });
  const kept = { value_set: true };

  it('stays as it is stored with value_set, and goes to no other header', async () => {
    const first = await deploy([withSteps(append('X-Key', { value: 'sesame' }))]);
    const id = idOf(first, 'bank');
    const again = await deploy([withSteps(append('X-Key', kept))]);
    expect(changed(again)).toEqual(['bank unchanged']);
    const moved = await refused([withSteps(append('X-Other', kept))]);
    expect([moved.status, moved.body]).toMatchObject([
      400,
      {
        errors: {
          'items.0.request_transforms.0.options.value': [expect.stringContaining('is required')],
        },
      },
    ]);
    const more = withSteps(append('X-New', { value: 'new' }), append('X-Key', kept));
    expect(changed(await deploy([more]))).toEqual(['bank updated request_transforms']);
    expect(api.inForce('proxy', id)).toMatchObject({
      requestSteps: [append('X-New', { value: 'new' }), append('X-Key', { value: 'sesame' })],
    });
    await rollback(first.id);
    expect(api.inForce('proxy', id)).toMatchObject({
      requestSteps: [append('X-Key', { value: 'sesame' })],
    });
  });

  it('has to be given where none is stored', async () => {
    const answer = await refused([withSteps(append('X-Key', kept))]);
    expect([answer.status, Object.keys((answer.body as { errors: object }).errors)]).toEqual([
      400,
      ['items.0.request_transforms.0.options.value'],
    ]);
  });
});

describe('a deployment', () => {
  it('puts reactors, proxies and applications in force, and says what it did', async () => {
    const made = await deploy(all, { message: 'first' });
    expect(changed(made)).toEqual(['bank created', 'charge created', 'checkout created']);
    const ids = Object.fromEntries(made.changes.map(({ slug, id }) => [slug, id]));
    expect(api.inForce('reactor', ids.charge ?? '')).toMatchObject({
      applicationId: ids.checkout,
      configuration: { API_KEY: 'sesame', LIMIT: '7' },
    });
    expect(await shownBy(`/reactors/${ids.charge}`)).toMatchObject({
      ...{ slug: 'charge', name: 'Charge', formula: { name: 'Charge' } },
    });
    expect(await shownBy(`/proxies/${ids.bank}`)).toMatchObject({
      ...{ slug: 'bank', configuration: { TOKEN: 'sesame' } },
    });
    expect(JSON.stringify(made)).not.toMatch(/key_|"key"|sesame/);
    expect((await api.get(`/applications/${ids.checkout}/keys`)).body).toEqual([]);

    expect(await shownBy(`/deployments/${made.id}`)).toMatchObject({
      ...{ message: 'first', changes: made.changes, actor: { type: 'application' } },
      counts: { created: 3, updated: 0, unchanged: 0, pruned: 0 },
    });
    const lines = await api.admin.query<{ operation: string; reason: string | null }>(
      `SELECT operation, reason FROM audit_log WHERE trace_id = $1 ORDER BY operation`,
      [(await shownBy(`/deployments/${made.id}`)).trace_id],
    );
    expect(lines).toEqual([
      { operation: 'application.create', reason: null },
      { operation: 'deployment.create', reason: 'first' },
      { operation: 'formula.create', reason: null },
      { operation: 'proxy.create', reason: null },
      { operation: 'reactor.create', reason: null },
    ]);
  });

  it('of what is in force already changes nothing, and writes nothing', async () => {
    const first = await deploy(all);
    const [before, log] = [await head(), await stored()];
    const second = await deploy(all, { message: 'again' });
    expect(changed(second)).toEqual(['bank unchanged', 'charge unchanged', 'checkout unchanged']);
    expect(second.id).toBe(first.id);
    expect([await head(), await stored()]).toEqual([before, log]);
    const kept = { ...reactor, configuration: { API_KEY: null, LIMIT: null } };
    expect(changed(await deploy([acting, kept, proxy]))).toEqual(changed(second));
    expect((await shownBy('/deployments')).data).toHaveLength(1);
  });

  it('exchanges the matches of two proxies, and is refused where both would have the same', async () => {
    const matching = (slug: string, path: string): object => ({
      ...proxy,
      slug,
      match: { hosts: ['exchanged.example'], paths: [path] },
    });
    const first = await deploy([matching('a', '/one'), matching('b', '/two')]);
    const same = await refused([matching('a', '/two'), matching('b', '/two')]);
    expect(same).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const exchanged = await deploy([matching('a', '/two'), matching('b', '/one')]);
    expect(changed(exchanged)).toEqual(['a updated match', 'b updated match']);
    for (const [slug, path] of [
      ['a', '/two'],
      ['b', '/one'],
    ] as const) {
      expect(api.inForce('proxy', idOf(first, slug))).toMatchObject({ match: { paths: [path] } });
    }
    expect(changed(await rollback(first.id))).toEqual(['a updated match', 'b updated match']);
  });

  it('writes what differs alone, and names its members', async () => {
    const first = await deploy(all);
    const changedSet = [
      { ...acting, permissions: ['token:use', 'token:read'] },
      { ...reactor, formula: { ...formula, code: codeOf('two') } },
      { ...proxy, destination_url: 'https://new.example', configuration: undefined },
    ];
    const second = await deploy(changedSet);
    expect(changed(second)).toEqual([
      'bank updated destination_url configuration',
      'charge updated formula.code',
      'checkout updated permissions',
    ]);
    expect(second.changes.map(({ id }) => id).sort()).toEqual(
      first.changes.map(({ id }) => id).sort(),
    );
    expect(await shownBy(`/proxies/${idOf(first, 'bank')}`)).not.toHaveProperty('configuration');
  });

  it('answers in a dry run what it would do, by the same checks, and does nothing', async () => {
    await deploy(all);
    const before = [await head(), await stored()];
    const wanted = [
      { ...reactor, formula: { ...formula, code: codeOf('two') }, application: undefined },
      proxy,
    ];
    const dry = await deploy(wanted, { dry_run: true, prune: true });
    expect(dry).not.toHaveProperty('id');
    expect(changed(dry)).toEqual([
      'bank unchanged',
      'charge updated application_id formula.code',
      'checkout pruned',
    ]);
    const wrong = [{ ...reactor, configuration: { LIMIT: 7 } }];
    expect(await refused(wrong, { dry_run: true })).toMatchObject({
      status: 400,
      body: { errors: { 'items.0.configuration.API_KEY': ['is required'] } },
    });
    expect([await head(), await stored()]).toEqual(before);
    expect((await shownBy('/deployments')).data).toHaveLength(1);
  });

  it('keeps stored values where it is told to, and takes away those that it does not name', async () => {
    const first = await deploy(all);
    const wanted = [acting, { ...reactor, configuration: { API_KEY: null, LIMIT: 8 } }, proxy];
    expect(changed(await deploy(wanted))).toContain('charge updated configuration');
    expect(api.inForce('reactor', idOf(first, 'charge'))).toMatchObject({
      configuration: { API_KEY: 'sesame', LIMIT: '8' },
    });
    const unknown = [{ ...proxy, slug: 'other', configuration: { TOKEN: null } }];
    expect(await refused(unknown)).toMatchObject({
      status: 400,
      body: { errors: { 'items.0.configuration.TOKEN': ['has no stored value to keep'] } },
    });
  });

  it('with any fault puts nothing in force, and tells all faults by their place', async () => {
    const before = [await head(), await stored()];
    const faults = [
      acting,
      { ...reactor, formula: { ...formula, code: 'module.exports = (' } },
      { ...proxy, application: { slug: 'nobody' } },
      { ...proxy, slug: 'second', destination_url: 'ftp://a.example' },
    ];
    const answer = await refused(faults);
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([422, 'invalid_code']);
    expect(Object.keys((answer.body as { errors: object }).errors)).toEqual([
      'items.1.formula.code',
      'items.2.application.slug',
      'items.3.destination_url',
    ]);
    expect(
      await refused([
        { kind: 'formula', slug: 'a' },
        { ...acting, slug: undefined },
        proxy,
        { ...proxy, name: '' },
        { ...acting, slug: 'm', type: 'management' },
        'seven' as unknown as object,
      ]),
    ).toMatchObject({
      status: 400,
      body: {
        errors: {
          'items.0.kind': ['must be application, reactor, proxy'],
          'items.1.slug': ['is required'],
          'items.3.name': ['must not be empty'],
          'items.4.type': [expect.any(String)],
          'items.5.kind': [expect.any(String)],
        },
      },
    });
    expect(await refused([proxy, proxy])).toMatchObject({
      body: { errors: { 'items.1.slug': ['is there twice'] } },
    });
    expect([await head(), await stored()]).toEqual(before);
  });

  it('is bounded in items, bytes and message', async () => {
    const many = Array.from({ length: 501 }, (_, n) => ({ ...proxy, slug: `p-${n}` }));
    expect(await refused(many)).toMatchObject({
      status: 400,
      body: { errors: { items: ['must have at most 500 entries'] } },
    });
    expect(await refused([], { message: 'x'.repeat(501) })).toMatchObject({ status: 400 });
    const tag = await refused([{ ...proxy, etag: 'x'.repeat(101) }]);
    expect(tag).toMatchObject({
      status: 400,
      body: { errors: { 'items.0.etag': [expect.any(String)] } },
    });
    const large = JSON.stringify({ items: ['x'.repeat(16 * 1024 * 1024)] });
    expect((await api.post('/deployments', large)).status).toBe(413);
  });

  it('prunes what files had put in force, and spares what was made by hand', async () => {
    const byHand = await api.made('/proxies', { ...proxy, slug: 'by-hand', kind: undefined });
    const first = await deploy(all);
    expect(changed(await deploy([proxy]))).toEqual(['bank unchanged']);
    const pruned = await deploy([proxy], { prune: true });
    expect(changed(pruned)).toEqual(['bank unchanged', 'charge pruned', 'checkout pruned']);
    expect((await api.get(`/reactors/${idOf(first, 'charge')}`)).status).toBe(404);
    expect((await api.get(`/proxies/${byHand.id}`)).status).toBe(200);
    expect((await shownBy('/reactor-formulas')).data).toEqual([]);
    expect(changed(await deploy([proxy], { prune: true }))).toEqual(['bank unchanged']);
  });
});

describe('an application that has keys', () => {
  const wider = { ...acting, permissions: ['token:use', 'token:read', 'token:delete'] };
  const narrow = { ...acting, permissions: ['token:create'] };
  let mayDeploy: string;
  beforeAll(async () => {
    mayDeploy = await api.keyWith('management', ['deployment:create']);
  });

  it('gets no other rights from a key that may deploy alone, by an item or a rollback', async () => {
    const first = await deploy([wider], {}, mayDeploy);
    const id = idOf(first, 'checkout');
    await deploy([narrow], {}, mayDeploy);
    await api.made(`/applications/${id}/keys`, {});
    const widened = await api.post('/deployments', { items: [wider], force: true }, mayDeploy);
    const back = await api.post(`/deployments/${first.id}/rollback`, { force: true }, mayDeploy);
    for (const answer of [widened, back]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    }
    const later = { ...narrow, expires_at: '2099-01-01T00:00:00Z' };
    expect((await api.post('/deployments', { items: [later] }, mayDeploy)).status).toBe(403);
    expect(api.inForce('application', id)).toMatchObject({ permissions: ['token:create'] });

    const renamed = await deploy([{ ...narrow, name: 'Renamed' }], {}, mayDeploy);
    expect(changed(renamed)).toEqual(['checkout updated name']);
    const granting = ['deployment:create', 'application:update'];
    await deploy([wider], {}, await api.keyWith('management', granting));
    expect(api.inForce('application', id)).toMatchObject({ permissions: wider.permissions });
  });
});

describe('what was changed by hand since', () => {
  const conflicts = ({ status, body }: Response): unknown => {
    const { code, conflicts: found } = body as { code: string; conflicts: object[] };
    expect([status, code]).toEqual([409, 'deployment_conflict']);
    return found;
  };

  it('is a conflict with both versions, and nothing is written', async () => {
    const first = await deploy(all);
    const id = idOf(first, 'charge');
    const { formula: made } = (await shownBy(`/reactors/${id}`)) as { formula: { id: string } };
    await api.patch(`/reactor-formulas/${made.id}`, { code: codeOf('by hand') });
    await api.patch(`/proxies/${idOf(first, 'bank')}`, { configuration: { TOKEN: 'by hand' } });
    const before = [await head(), await stored()];
    const wanted = [
      { ...acting, name: 'New' },
      { ...reactor, formula: { ...formula, code: codeOf('two') } },
      { ...proxy, name: 'New' },
    ];
    const answer = await refused(wanted);
    expect(conflicts(answer)).toEqual([
      {
        ...{ kind: 'reactor', slug: 'charge', id, members: ['formula.code'] },
        ...{ etag: expect.any(String), deployed: { 'formula.code': codeOf('one') } },
        current: { 'formula.code': codeOf('by hand') },
      },
      {
        ...{ kind: 'proxy', slug: 'bank', id: idOf(first, 'bank'), members: ['configuration'] },
        ...{ etag: expect.any(String), deployed: {}, current: {} },
      },
    ]);
    expect(answer.text).not.toMatch(/sesame/);
    expect([await head(), await stored()]).toEqual(before);
    const blind = await api.keyWith('management', ['deployment:create']);
    const seen = await api.post('/deployments', { items: wanted }, blind);
    expect(conflicts(seen)).toMatchObject([{ members: ['formula.code'] }, {}]);
    expect(seen.text).not.toMatch(/by hand/);
  });

  it('is shown for the first twenty resources', async () => {
    const items = Array.from({ length: 21 }, (_, n) => ({ ...proxy, slug: `p-${n}` }));
    await deploy(items);
    await api.admin.query(`UPDATE proxies SET name = 'By hand' WHERE slug LIKE 'p-%'`);
    const answer = await refused(items);
    expect(conflicts(answer)).toHaveLength(20);
    expect(answer.body).toMatchObject({ detail: expect.stringContaining('deployed: 21.') });
  });

  it('is overwritten by force, or where the item has its etag, and is none where it is the same', async () => {
    const first = await deploy(all);
    const path = `/proxies/${idOf(first, 'bank')}`;
    await api.patch(path, { name: 'By hand' });
    const [conflict] = conflicts(await refused(all)) as { etag: string }[];
    const dry = await deploy([{ ...proxy, etag: conflict?.etag }], { dry_run: true });
    expect(changed(dry)).toEqual(['bank updated name']);
    await api.patch(path, { name: 'By hand again' });
    conflicts(await refused([{ ...proxy, etag: conflict?.etag }]));
    expect(changed(await deploy([{ ...proxy, name: 'By hand again' }]))).toEqual([
      'bank unchanged',
    ]);
    await api.patch(path, { name: 'And again' });
    expect(changed(await deploy([proxy], { force: true }))).toEqual(['bank updated name']);
    await api.patch(path, { name: 'Back and' });
    await api.patch(path, { name: 'Bank' });
    expect(changed(await deploy([{ ...proxy, name: 'New' }]))).toEqual(['bank updated name']);
  });

  it('is a conflict too where it was deleted, or would be pruned', async () => {
    const first = await deploy(all);
    await api.delete(`/proxies/${idOf(first, 'bank')}`);
    expect(conflicts(await refused(all))).toMatchObject([{ slug: 'bank' }]);
    await api.patch(`/reactors/${idOf(first, 'charge')}`, { name: 'By hand' });
    const rest = await refused([acting], { prune: true });
    expect(conflicts(rest)).toMatchObject([{ slug: 'charge', members: ['name'] }]);
    const forced = await deploy([acting, proxy], { prune: true, force: true });
    expect(changed(forced)).toEqual(['bank created', 'charge pruned', 'checkout unchanged']);
  });

  it('is taken over by a first deployment that says the same, and refused where it differs', async () => {
    const { kind: _, ...members } = proxy;
    const { id } = await api.made('/proxies', { ...members, slug: undefined });
    const adopted = await deploy([{ ...proxy, id, configuration: { TOKEN: null } }]);
    expect(changed(adopted)).toEqual(['bank updated slug']);
    expect(idOf(adopted, 'bank')).toBe(id);
    await api.made('/proxies', { ...members, slug: 'other' });
    expect(conflicts(await refused([{ ...proxy, slug: 'other', name: 'New' }]))).toMatchObject([
      { slug: 'other', members: ['name'] },
    ]);
    expect(changed(await deploy([{ ...proxy, slug: 'other' }]))).toEqual(['other unchanged']);
    expect(await refused([{ ...proxy, slug: 'other', id }])).toMatchObject({
      body: { errors: { 'items.0.id': ['is not that of the proxy with this slug'] } },
    });
    const twice = [
      { ...proxy, id, configuration: { TOKEN: null } },
      { ...proxy, slug: 'second', id },
    ];
    expect(await refused(twice)).toMatchObject({
      status: 400,
      body: { errors: { 'items.1.id': ['is that of a proxy which another item names'] } },
    });
  });

  it('of a formula that other reactors share is not changed under them', async () => {
    const made = await api.made('/reactor-formulas', { name: 'Shared', code: codeOf('shared') });
    const shared = { name: 'r', configuration: {}, formula: { id: made.id } };
    const { id } = await api.made('/reactors', shared);
    await api.made('/reactors', shared);
    const item = { kind: 'reactor', slug: 'mine', id, name: 'r' };
    const same = { ...item, formula: { name: 'Shared', code: codeOf('shared') } };
    expect(changed(await deploy([same]))).toEqual(['mine updated slug']);
    expect(
      await refused([{ ...item, formula: { name: 'Shared', code: codeOf('new') } }]),
    ).toMatchObject({
      status: 400,
      body: { errors: { 'items.0.formula.code': [expect.any(String)] } },
    });
  });
});

describe('a rollback', () => {
  it('puts in force what the deployment had, and brings back what was pruned since', async () => {
    const first = await deploy(all);
    const { key } = await shownBy(`/proxies/${idOf(first, 'bank')}`);
    const { formula: made } = (await shownBy(`/reactors/${idOf(first, 'charge')}`)) as {
      formula: { id: string };
    };
    const second = await deploy(
      [
        { ...reactor, configuration: { API_KEY: 'other', LIMIT: 9 }, application: undefined },
        { ...proxy, slug: 'new' },
      ],
      { prune: true },
    );
    expect(changed(second)).toEqual([
      'bank pruned',
      'charge updated configuration application_id',
      'checkout pruned',
      'new created',
    ]);
    const dry = await rollback(first.id, { dry_run: true });
    const back = await rollback(first.id, { message: 'back' });
    expect(changed(back)).toEqual([
      'bank created',
      'charge updated configuration application_id',
      'checkout created',
      'new pruned',
    ]);
    expect(changed(dry)).toEqual(changed(back));
    for (const slug of ['bank', 'charge', 'checkout']) {
      expect(idOf(back, slug)).toBe(idOf(first, slug));
    }
    expect(api.inForce('reactor', idOf(first, 'charge'))).toMatchObject({
      ...{ applicationId: idOf(first, 'checkout'), formulaId: made.id },
      configuration: { API_KEY: 'sesame', LIMIT: '7' },
    });
    expect(api.inForce('formula', made.id)).toMatchObject({ code: codeOf('one') });
    expect(await shownBy(`/proxies/${idOf(first, 'bank')}`)).toMatchObject({ key });
    expect(await shownBy(`/deployments/${back.id}`)).toMatchObject({
      ...{ rollback_of: first.id, message: 'back' },
    });
    expect((await rollback(back.id)).id).toBe(back.id);
    expect(changed(await rollback(second.id))).toEqual(changed(second));
  });

  it('brings back code that is in no formula any more, however old', async () => {
    const versions = ['a', 'b', 'c'].map((text) => [
      { ...reactor, application: undefined, formula: { ...formula, code: codeOf(text) } },
    ]);
    const made: DeploymentResponse[] = [];
    for (const items of versions) made.push(await deploy(items));
    await api.admin.query(`UPDATE code_texts SET last_in_force_at = now() - interval '1 year'`);
    const [gone] = await api.admin.query<{ deleted: string }>(
      'SELECT delete_code_texts(1, 1000) AS deleted',
    );
    expect(Number(gone?.deleted)).toBeGreaterThanOrEqual(0);
    await rollback(made[0]?.id);
    const { formula: now } = (await shownBy(
      `/reactors/${idOf(made[0] ?? { changes: [] }, 'charge')}`,
    )) as {
      formula: { id: string };
    };
    expect(api.inForce('formula', now.id)).toMatchObject({ code: codeOf('a') });
  });

  it('gives a proxy that was deleted by hand a new key: the old one may have become known', async () => {
    const first = await deploy([proxy]);
    const path = `/proxies/${idOf(first, 'bank')}`;
    const { key } = await shownBy(path);
    await deploy([{ ...proxy, slug: 'other' }], { prune: true });
    await rollback(first.id);
    expect(await shownBy(path)).toMatchObject({ key });
    await api.delete(path);
    const second = await deploy([acting], { prune: true });
    await rollback(first.id);
    const shown = await shownBy(path);
    expect(shown).toMatchObject({ slug: 'bank', key: expect.any(String) as string });
    expect(shown.key).not.toBe(key);
    await rollback(second.id);
    await rollback(first.id);
    expect(await shownBy(path)).not.toMatchObject({ key });
  });

  it('does not overwrite what was changed by hand since, unless it is forced to', async () => {
    const first = await deploy([proxy]);
    await deploy([{ ...proxy, name: 'Second' }]);
    await api.patch(`/proxies/${idOf(first, 'bank')}`, { name: 'By hand' });
    expect(await api.post(`/deployments/${first.id}/rollback`, {})).toMatchObject({
      status: 409,
      body: { code: 'deployment_conflict', conflicts: [{ slug: 'bank' }] },
    });
    expect(changed(await rollback(first.id, { force: true }))).toEqual(['bank updated name']);
  });

  it('is refused where another deployment of the project is newer than the one that is named', async () => {
    const named = (name: string): object => ({ ...proxy, slug: `of-${name}`, name });
    const first = await deploy([named('one')], { project: 'shop' });
    const second = await deploy([named('two')], { project: 'shop' });
    await deploy([named('other')], { project: 'bank' });
    for (const newest_id of [first.id, randomUUID()]) {
      const late = { newest_id, force: true };
      const answer = await api.post(`/deployments/${first.id}/rollback`, late);
      expect(answer).toMatchObject({ status: 409, body: { code: 'deployment_conflict' } });
      expect(answer.body).not.toHaveProperty('conflicts');
    }
    expect(changed(await rollback(first.id, { newest_id: second.id?.toUpperCase() }))).toEqual([
      'of-one unchanged',
      'of-two pruned',
    ]);
    const wrong = await api.post(`/deployments/${first.id}/rollback`, { newest_id: 'first' });
    expect(wrong).toMatchObject({
      status: 400,
      body: { errors: { newest_id: [expect.any(String)] } },
    });
  });

  it('to a deployment that is unknown or foreign is 404', async () => {
    const { id } = await deploy([proxy]);
    for (const path of [`/deployments/${randomUUID()}`, `/deployments/x`, `/deployments/${id}`]) {
      const key = path.endsWith(id ?? '') ? api.foreign.management_key : undefined;
      expect((await api.get(path, key)).status).toBe(404);
      expect((await api.post(`${path}/rollback`, {}, key)).status).toBe(404);
    }
  });
});

describe('deployments that are kept', () => {
  it('are the newest 50, and hold configuration values sealed', async () => {
    await deploy([proxy]);
    await api.admin.query(
      `INSERT INTO deployments
       SELECT tenant_id, lpad(n::text, 32, '0')::uuid, message, rollback_of, changes, state, code_ids,
         bytes, trace_id, created_by, created_at
       FROM deployments, generate_series(1, 60) n`,
    );
    await deploy([{ ...proxy, name: 'Newest' }]);
    const { data } = (await shownBy('/deployments?size=100')) as { data: { id: string }[] };
    expect(data).toHaveLength(50);
    const part = (await shownBy(`/deployments?size=3&after=${data[1]?.id}`)) as { data: object[] };
    expect(part.data).toEqual(data.slice(2, 5));
    const rows = await api.admin.query<{ state: Buffer; text: string }>(
      'SELECT state, changes::text AS text FROM deployments',
    );
    for (const { state, text } of rows) {
      expect(`${state.toString('latin1')} ${text}`).not.toMatch(/sesame|Newest/);
    }
  });

  it('are bounded in bytes: the oldest go, and the newest two stay', async () => {
    const [first, second] = [await deploy([proxy]), await deploy([{ ...proxy, name: 'Two' }])];
    await api.admin.query(`UPDATE deployments SET bytes = 64 * 1024 * 1024`);
    const third = await deploy([{ ...proxy, name: 'Three' }]);
    const left = ((await shownBy('/deployments')).data as { id: string }[]).map(({ id }) => id);
    expect(left).toEqual([third.id, second.id]);
    expect(left).not.toContain(first.id);
  });

  describe('of several projects', () => {
    const named = (slug: string, name: string): object => ({ ...proxy, slug, name });
    const pushed = async (project: string, count: number): Promise<DeploymentResponse[]> => {
      const made: DeploymentResponse[] = [];
      for (let n = 1; n <= count; n += 1) {
        made.push(await deploy([named(`of-${project}`, `${project} ${n}`)], { project }));
      }
      return made;
    };
    const kept = async (): Promise<string[]> =>
      ((await shownBy('/deployments?size=100')).data as { id: string }[]).map(({ id }) => id);
    /** Makes the next deployment forget this one, and those before it. */
    const makeLarge = (id = ''): Promise<unknown> =>
      api.admin.query('UPDATE deployments SET bytes = 64 * 1024 * 1024 WHERE id = $1', [id]);

    it('are the newest two of each, however often another one is deployed', async () => {
      const quiet = await pushed('quiet', 3);
      const busy = await pushed('busy', 51);
      const ids = [...quiet.slice(1), ...busy.slice(1)].map(({ id }) => id);
      expect(await kept()).toEqual(ids.toReversed());
      const [, before] = quiet;
      expect(changed(await rollback(before?.id))).toEqual(['of-quiet updated name']);
    });

    it('are 40 beyond the bytes of a tenant, those of the projects that deployed last', async () => {
      const made: DeploymentResponse[] = [];
      for (let n = 0; n < 21; n += 1) made.push(...(await pushed(`p-${n}`, 2)));
      const busy = await pushed('busy', 3);
      await makeLarge(busy[0]?.id);
      const last = await deploy([named('of-busy', 'last')], { project: 'busy' });
      const ids = [...made.slice(-38), ...busy.slice(1), last].map(({ id }) => id);
      expect(await kept()).toEqual(ids.toReversed());
    });

    it('go with a later one that made their resources again: their keys may have been ended since', async () => {
      const first = await deploy([named('a', 'one')], { project: 'shop' });
      const taken = await deploy([named('a', 'one')], { project: 'bank', force: true });
      await deploy([], { project: 'bank', prune: true });
      const [other] = await pushed('other', 1);
      const again = await rollback(first.id);
      expect(changed(again)).toEqual(['a created']);
      await api.delete(`/proxies/${idOf(again, 'a')}`);
      await pushed('shop', 2);
      await makeLarge(again.id);
      await deploy([named('of-shop', 'last')], { project: 'shop' });
      const left = await kept();
      expect(left).toContain(other?.id);
      for (const { id } of [first, taken, again]) expect(left).not.toContain(id);
    });
  });
});

describe('of a project', () => {
  const named = (slug: string, name = slug): object => ({ ...proxy, slug, name });

  it('prunes what the project had put in force alone', async () => {
    await deploy([named('of-none')]);
    const first = await deploy([named('a'), named('gone')], { project: 'shop' });
    await deploy([named('b')], { project: 'bank' });
    expect(await shownBy(`/deployments/${first.id}`)).toMatchObject({ project: 'shop' });
    const pruned = await deploy([named('a')], { project: 'shop', prune: true });
    expect(changed(pruned)).toEqual(['a unchanged', 'gone pruned']);
    expect(changed(await deploy([], { project: 'bank', prune: true }))).toEqual(['b pruned']);
    expect(changed(await deploy([], { prune: true }))).toEqual(['of-none pruned']);
    const { data } = (await api.get('/proxies')).body as { data: { slug: string }[] };
    expect(data.map(({ slug }) => slug)).toEqual(['a']);
  });

  it('is refused what another project has put in force, unless it is forced to or has seen it', async () => {
    await deploy([named('a')], { project: 'shop' });
    for (const more of [{ project: 'bank' }, {}]) {
      const before = await stored();
      const answer = await refused([named('a')], more);
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({
        code: 'deployment_conflict',
        conflicts: [{ slug: 'a', project: 'shop', members: [] }],
      });
      expect(await stored()).toEqual(before);
    }
    const conflict = await refused([named('a')], { project: 'bank' });
    const [{ etag }] = (conflict.body as { conflicts: [{ etag: string }] }).conflicts;
    const taken = await deploy([{ ...named('a'), etag }], { project: 'bank' });
    expect(changed(taken)).toEqual(['a unchanged']);
    expect(changed(await deploy([], { project: 'shop', prune: true }))).toEqual([]);
    await deploy([named('a')], { project: 'shop', force: true });
    expect(changed(await deploy([], { project: 'bank', prune: true }))).toEqual([]);
    expect(changed(await deploy([], { project: 'shop', prune: true }))).toEqual(['a pruned']);
  });

  it('takes over what a folder without a name had put in force, once', async () => {
    const before = await deploy([named('a')]);
    const taken = await deploy([named('a')], { project: 'shop' });
    expect(changed(taken)).toEqual(['a unchanged']);
    expect(taken.id).not.toBe(before.id);
    expect((await deploy([named('a')], { project: 'shop' })).id).toBe(taken.id);
    expect(changed(await deploy([], { prune: true }))).toEqual([]);
  });

  it('is rolled back alone, and a second push of it tells its own newest deployment', async () => {
    const first = await deploy([named('a', 'one')], { project: 'shop' });
    await deploy([named('b', 'one')], { project: 'bank' });
    await deploy([named('a', 'two'), named('c')], { project: 'shop' });
    const bank = await deploy([named('b', 'two')], { project: 'bank' });
    expect(changed(await rollback(first.id))).toEqual(['a updated name', 'c pruned']);
    expect(await shownBy(`/proxies/${idOf(bank, 'b')}`)).toMatchObject({ name: 'two' });
    expect((await deploy([named('b', 'two')], { project: 'bank' })).id).toBe(bank.id);
    const { data } = (await api.get('/deployments')).body as { data: { project: string }[] };
    expect(data.map(({ project }) => project)).toEqual(['shop', 'bank', 'shop', 'bank', 'shop']);
  });

  it('has a name as slugs are', async () => {
    for (const project of ['', 'Shop', 'a b', '-a', 'a'.repeat(65), 7]) {
      const answer = await refused([named('a')], { project });
      expect([answer.status, Object.keys(answer.body.errors as object)]).toEqual([
        400,
        ['project'],
      ]);
    }
    expect(changed(await deploy([named('a')], { project: null }))).toEqual(['a created']);
  });
});

it('a transform that was stored without a runtime is the same as with the oldest one', async () => {
  const transform = { code: codeOf('request') };
  const byClient = {
    name: 'Bank',
    destination_url: 'https://bank.example',
    request_transform: transform,
  };
  const { id } = (await api.post('/proxies', byClient)).body as { id: string };
  const item = {
    ...{ kind: 'proxy', slug: 'bank', id, ...byClient },
    request_transform: { ...transform, runtime: 'node16' },
  };
  expect(changed(await deploy([item]))).toEqual(['bank updated slug']);
});

it('follows those of a process whose clock is ahead, and is the newest', async () => {
  const now = Date.now.bind(Date);
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
  const ahead = await deploy([proxy]).finally(() => clock.mockRestore());
  const second = await deploy([{ ...proxy, name: 'Two' }]);
  const third = await deploy([{ ...proxy, name: 'Three' }]);
  const { data } = (await shownBy('/deployments')) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual([third.id, second.id, ahead.id]);
  expect(changed(await rollback(second.id))).toEqual(['bank updated name']);
});

it('of two deployments at once one is refused, or both are whole', async () => {
  const sets = ['A', 'B', 'C', 'D'].map((name) =>
    Array.from({ length: 20 }, (_, n) => ({ ...proxy, slug: `p-${n}`, name })),
  );
  const answers = await Promise.all(sets.map((items) => refused(items, { force: true })));
  expect(answers.map(({ status }) => status).every((one) => [200, 429].includes(one))).toBe(true);
  expect(answers.some(({ status }) => status === 200)).toBe(true);
  const { data } = (await shownBy('/proxies?size=100')) as { data: { name: string }[] };
  expect(data).toHaveLength(20);
  expect(new Set(data.map(({ name }) => name)).size).toBe(1);
});

it('is told to come back while another one of the tenant is under way, and changes nothing', async () => {
  const key = randomUUID();
  const sent = (): Test =>
    api.post('/deployments', { items: [proxy] }).set('SVC-IDEMPOTENCY-KEY', key);
  await api.admin.transaction(async (sql) => {
    await sql.query(`SELECT pg_advisory_xact_lock(hashtextextended('deployments of ' || $1, 0))`, [
      api.tenant.tenant_id,
    ]);
    expect(await sent()).toMatchObject({
      ...{ status: 429, body: { code: 'share_exhausted' } },
      headers: { 'retry-after': '10' },
    });
  });
  const { status, body } = await sent();
  expect([status, changed(body as DeploymentResponse)]).toEqual([200, ['bank created']]);
});

it('whose connection dies when all is written has put nothing in force', async () => {
  const first = await deploy(all);
  const before = [await head(), await stored(), (await shownBy('/proxies')).data];
  await api.admin.transaction(async (sql) => {
    await sql.query('SELECT * FROM definition_head FOR UPDATE');
    const answer = refused([acting, { ...reactor, name: 'New' }, { ...proxy, name: 'New' }]);
    await waitFor(async () => {
      const ended = await api.admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'management-api' AND wait_event_type = 'Lock'`,
      );
      return ended.length > 0;
    });
    expect((await answer).status).toBeGreaterThanOrEqual(500);
  });
  expect([await head(), await stored(), (await shownBy('/proxies')).data]).toEqual(before);
  expect((await shownBy('/deployments')).data).toMatchObject([{ id: first.id }]);
});

it('500 items are put in force by one deployment, and 501 are too many', async () => {
  const items = Array.from({ length: 500 }, (_, n) => ({
    ...reactor,
    ...{ slug: `r-${n}`, application: undefined },
    formula: { ...formula, code: codeOf(`${n}`) },
  }));
  expect((await deploy(items)).changes).toHaveLength(500);
  const again = await deploy(items);
  expect(again.changes.filter(({ change }) => change !== 'unchanged')).toEqual([]);
  expect(await refused([proxy])).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('at most 500') },
  });
});

it('prunes before resources are counted, so that a full set can be exchanged and rolled back', async () => {
  const items = Array.from({ length: 500 }, (_, n) => ({
    ...{ ...acting, slug: `a-${n}` },
  }));
  const full = await deploy(items);
  const exchanged = await deploy([acting], { prune: true });
  expect(exchanged.changes.filter(({ change }) => change === 'pruned')).toHaveLength(500);
  const back = await rollback(full.id);
  expect(back.changes.map(({ slug, change }) => `${slug} ${change}`)).toContain('checkout pruned');
  expect(back.changes).toHaveLength(501);
});
