import { randomUUID } from 'node:crypto';
import { codeHash, codeTextBytesMax, codeTextsMax, idOfCode } from '../code/code-texts';
import { useTestApi } from '../spec-api';
import { DataPlane } from './spec-data-plane';

const api = useTestApi();
let data: DataPlane;

beforeAll(() => (data = new DataPlane(api.ctx, api.database.dataUrl)));
afterAll(() => data.close());

const codeOf = (nth: number): string => `module.exports = () => ({ raw: ${nth} });`;
const tenantId = () => api.tenant.tenant_id;

async function shown(id: string, key?: string): Promise<{ code?: string; code_changed?: boolean }> {
  const { status, body } = await api.get(`/runs/${id}`, key);
  expect(status).toBe(200);
  const { code, code_changed } = body as { code?: string; code_changed?: boolean };
  return {
    ...(code === undefined ? {} : { code }),
    ...(code_changed === undefined ? {} : { code_changed }),
  };
}

const formulaWith = async (code: string): Promise<string> =>
  (await api.made('/reactor-formulas', { name: 'f', code })).id;

async function reactorWith(code: string): Promise<{ formula: string; reactor: string }> {
  const formula = await formulaWith(code);
  const made = { name: 'r', configuration: {}, formula: { id: formula } };
  return { formula, reactor: (await api.made('/reactors', made)).id };
}

const runOf = (resourceId: string, code: string): Promise<string> =>
  data.run(tenantId(), { codeHash: codeHash(code) }, { resourceId });

it('a run of a reactor shows the code that it ran, whatever has become of it since', async () => {
  const { formula, reactor } = await reactorWith(codeOf(1));
  const first = await runOf(reactor, codeOf(1));
  expect(await shown(first)).toEqual({ code: codeOf(1), code_changed: false });

  await api.patch(`/reactor-formulas/${formula}`, { code: codeOf(2) });
  const second = await runOf(reactor, codeOf(2));
  expect(await shown(first)).toEqual({ code: codeOf(1), code_changed: true });
  expect(await shown(second)).toEqual({ code: codeOf(2), code_changed: false });

  await api.put(`/reactor-formulas/${formula}`, { name: 'f', code: codeOf(1) });
  expect(await shown(first)).toEqual({ code: codeOf(1), code_changed: false });
  expect(await shown(second)).toEqual({ code: codeOf(2), code_changed: true });

  expect((await api.delete(`/reactors/${reactor}`)).status).toBe(204);
  expect(await shown(first)).toEqual({ code: codeOf(1), code_changed: true });
  expect((await api.delete(`/reactor-formulas/${formula}`)).status).toBe(204);
  expect(await shown(first)).toEqual({ code: codeOf(1), code_changed: true });
});

it('a run of a transform shows the code of its side', async () => {
  const [asked, answered, other] = [codeOf(11), codeOf(12), codeOf(13)];
  const proxy = await api.made('/proxies', {
    ...{ name: 'p', destination_url: 'https://a.example' },
    ...{ request_transform: { code: asked }, response_transform: { code: answered } },
  });
  const run = (mode: 'request' | 'response', code: string) =>
    data.run(
      tenantId(),
      { codeHash: codeHash(code) },
      { kind: 'transform', resourceId: proxy.id, mode },
    );
  const runs = [await run('request', asked), await run('response', answered)];
  const all = () => Promise.all(runs.map((id) => shown(id)));
  const [request, response] = [{ code: asked }, { code: answered }];
  expect(await all()).toEqual([
    { ...request, code_changed: false },
    { ...response, code_changed: false },
  ]);
  await api.patch(`/proxies/${proxy.id}`, {
    ...{ request_transform: { code: other }, response_transform: { code: asked } },
  });
  expect(await all()).toEqual([
    { ...request, code_changed: true },
    { ...response, code_changed: true },
  ]);
  await api.delete(`/proxies/${proxy.id}`);
  expect(await all()).toEqual([
    { ...request, code_changed: true },
    { ...response, code_changed: true },
  ]);
});

it('the code of a run is shown to callers who may read the code itself', async () => {
  const { reactor } = await reactorWith(codeOf(21));
  const run = await runOf(reactor, codeOf(21));
  const whole = { code: codeOf(21), code_changed: false };
  const transform = await data.run(
    tenantId(),
    { codeHash: codeHash(codeOf(22)) },
    { kind: 'transform', mode: 'request' },
  );
  const [none, reactors, proxies] = await Promise.all(
    [['log:read'], ['log:read', 'reactor:read'], ['log:read', 'proxy:read']].map((permissions) =>
      api.keyWith('management', permissions),
    ),
  );
  expect(await Promise.all([none, reactors, proxies].map((key) => shown(run, key)))).toEqual([
    {},
    whole,
    {},
  ]);
  expect(await Promise.all([none, reactors, proxies].map((key) => shown(transform, key)))).toEqual([
    {},
    {},
    { code_changed: true },
  ]);
});

it('a run that was recorded without its code shows none', async () => {
  const { reactor } = await reactorWith(codeOf(31));
  expect(await shown(await data.run(tenantId(), {}, { resourceId: reactor }))).toEqual({});
});

describe('former code', () => {
  it('is stored once, sealed, and of its tenant alone', async () => {
    const secret = 'module.exports = () => "sesame";';
    const formulas = await Promise.all([formulaWith(secret), formulaWith(secret)]);
    for (const id of formulas) await api.patch(`/reactor-formulas/${id}`, { code: codeOf(41) });
    const rows = await api.admin.query<{ tenant_id: string; text: Buffer }>(
      'SELECT tenant_id, text FROM code_texts WHERE id = $1',
      [idOfCode(secret)],
    );
    expect(rows).toMatchObject([{ tenant_id: tenantId() }]);
    expect(rows[0]?.text.includes('sesame')).toBe(false);
    const own = { codeHash: codeHash(secret) };
    const foreign = await data.run(api.foreign.tenant_id, own);
    expect(await shown(foreign, api.foreign.management_key)).toEqual({ code_changed: true });
    expect(await shown(await data.run(tenantId(), own))).toEqual({
      code: secret,
      code_changed: true,
    });
  });

  it('is not written by a change that leaves code as it is', async () => {
    const { formula } = await reactorWith(codeOf(51));
    await api.put(`/reactor-formulas/${formula}`, { name: 'renamed', code: codeOf(51) });
    const rows = await api.admin.query('SELECT 1 FROM code_texts WHERE id = $1', [
      idOfCode(codeOf(51)),
    ]);
    expect(rows).toEqual([]);
  });

  it('is bounded for each tenant in number and in bytes: the oldest goes first', async () => {
    const own = `DELETE FROM code_texts WHERE tenant_id = '${tenantId()}'`;
    const count = async (): Promise<number[]> => {
      const [row] = await api.admin.query<{ counts: number[] }>(
        `SELECT ARRAY[count(*), count(*) FILTER (WHERE octet_length(text) = 40)]::int[] AS counts
         FROM code_texts WHERE tenant_id = $1`,
        [tenantId()],
      );
      return row?.counts ?? [];
    };
    const fill = (number: number, bytes: number): Promise<unknown> =>
      api.admin.query(
        `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at)
         SELECT $1, gen_random_uuid(), decode(repeat('00', $3::int), 'hex'), now() - make_interval(secs => n)
         FROM generate_series(1, $2::int) n`,
        [tenantId(), number, bytes],
      );
    const change = async (): Promise<void> => {
      const { formula } = await reactorWith(`module.exports = '${randomUUID()}'`);
      expect((await api.patch(`/reactor-formulas/${formula}`, { code: codeOf(61) })).status).toBe(
        204,
      );
    };
    await api.admin.query(own);
    await fill(codeTextsMax, 40);
    await change();
    expect(await count()).toEqual([codeTextsMax, codeTextsMax - 1]);
    await api.admin.query(own);
    await fill(4, codeTextBytesMax / 4);
    await change();
    expect(await count()).toEqual([4, 0]);
  });
});
