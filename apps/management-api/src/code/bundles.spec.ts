import { randomUUID } from 'node:crypto';
import { codeIdOf, codePlace, deleteCodeTexts } from '@glovebox/runs';
import { connectDatabase } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';
import { codeHash } from './code-texts';

const api = useTestApi();

/** A text of its own, larger than what a definition takes. */
const bundleOf = (name: string): { code: string; sha256: string } => {
  const code = `module.exports = () => ({ raw: '${name} ${randomUUID()}' }); //${'x'.repeat(60_000)}`;
  return { code, sha256: codeHash(code) };
};

const put = async (path: string, body: unknown, key?: string) => {
  const { status, body: answer } = await api.put(path, body, key);
  return { status, answer: answer as Record<string, unknown> };
};

async function uploaded(name: string, key?: string): Promise<string> {
  const { code, sha256 } = bundleOf(name);
  expect((await put(`/code/${sha256}`, { code }, key)).status).toBe(200);
  return sha256;
}

const textsOf = async (sha256: string): Promise<Record<string, unknown>[]> =>
  api.admin.query('SELECT * FROM code_texts WHERE id = $1', [codeIdOf(sha256)]);

/** Lets the hour of an upload pass, and sweeps as a worker does. */
async function sweepAfterAnHour(sha256: string): Promise<void> {
  await api.admin.query(`UPDATE code_texts SET held_until = now() - interval '1 s' WHERE id = $1`, [
    codeIdOf(sha256),
  ]);
  const data = connectDatabase({ url: api.database.dataUrl, app: 'spec', connectionsMax: 1 });
  try {
    await deleteCodeTexts(data, 7, 1_000);
  } finally {
    await data.close();
  }
}

/** What this process trusts: on a busy machine its lease may just have run out. */
const inForce = <Kind extends 'formula' | 'proxy'>(kind: Kind, id: string) =>
  waitFor(() => api.inForce(kind, id));
const formula = async (members: object): Promise<string> =>
  (await api.made('/reactor-formulas', { name: 'F', ...members })).id;
const shown = async (path: string): Promise<Record<string, unknown>> =>
  (await api.get(path)).body as Record<string, unknown>;

describe('an upload', () => {
  it('keeps the text sealed, for an hour, and shows it by its hash', async () => {
    const { code, sha256 } = bundleOf('kept');
    const { status, answer } = await put(`/code/${sha256}`, { code });
    expect([status, answer.sha256]).toEqual([200, sha256]);
    const heldMs = Date.parse(String(answer.held_until)) - Date.now();
    expect(heldMs).toBeGreaterThan(50 * 60_000);
    const [row] = await textsOf(sha256);
    expect(String(row?.text)).not.toContain('module.exports');
    expect(await shown(`/code/${sha256}`)).toEqual({ sha256, code });
  });

  it('of another text than the path names is 400, and stores nothing', async () => {
    const [one, other] = [bundleOf('one'), bundleOf('other')];
    const { status, answer } = await put(`/code/${one.sha256}`, { code: other.code });
    expect([status, answer.errors]).toEqual([400, { code: ['has another SHA-256 than the path'] }]);
    expect([...(await textsOf(one.sha256)), ...(await textsOf(other.sha256))]).toEqual([]);
  });

  it('above 1 MiB is 413, and of exactly 1 MiB is taken', async () => {
    const head = 'module.exports = () => ({}); //';
    const whole = head + 'x'.repeat(1024 * 1024 - head.length);
    expect((await put(`/code/${codeHash(whole)}`, { code: whole })).status).toBe(200);
    const more = `${whole}x`;
    expect((await put(`/code/${codeHash(more)}`, { code: more })).status).toBe(413);
  });

  it('that does not compile is 422, and a path that is no SHA-256 is 404', async () => {
    const code = 'module.exports = (';
    expect((await put(`/code/${codeHash(code)}`, { code })).status).toBe(422);
    expect((await put('/code/abc', { code })).status).toBe(404);
    expect((await put(`/code/${codeHash(code).toUpperCase()}`, { code })).status).toBe(404);
  });

  /** Rows of uploads that nothing names. `waits`: their hour is not over. */
  const fill = (texts: number, bytes: number, waits: boolean) =>
    api.admin.query(
      `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at, held_until)
       SELECT $1, gen_random_uuid(), convert_to(repeat('x', $3::int), 'UTF8'), '-infinity', now() + $4::interval
       FROM generate_series(1, $2::int)`,
      [api.tenant.tenant_id, texts, bytes, waits ? '1 minute' : '-1 minute'],
    );
  const clear = async (): Promise<void> => {
    await api.admin.query(`UPDATE code_texts SET held_until = '-infinity'`);
    await api.admin.query(`DELETE FROM code_texts WHERE last_in_force_at = '-infinity'`);
  };
  const answerTo = async (name: string): Promise<unknown> => {
    const { code, sha256 } = bundleOf(name);
    return (await put(`/code/${sha256}`, { code })).status;
  };

  it('is refused beyond the room of texts that nothing names, of this tenant alone', async () => {
    await fill(500, 1, true);
    expect(await answerTo('too many')).toBe(409);
    await uploaded('of another', api.foreign.management_key);
    await clear();
    expect(await answerTo('after an hour')).toBe(200);
  });

  it('of a text that is there is not checked again', async () => {
    const code = 'module.exports = (';
    const row = [api.tenant.tenant_id, codeIdOf(codeHash(code))];
    await api.admin.query(
      `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at, held_until)
       VALUES ($1, $2, 'checked when it was stored', '-infinity', now() + interval '1 minute')`,
      row,
    );
    expect((await put(`/code/${codeHash(code)}`, { code })).status).toBe(200);
    await clear();
    expect((await put(`/code/${codeHash(code)}`, { code })).status).toBe(422);
  });

  it('of a text whose hour is over needs room like a new one, and of one that waits needs none', async () => {
    const { code, sha256 } = bundleOf('again');
    expect((await put(`/code/${sha256}`, { code })).status).toBe(200);
    await fill(499, 1, true);
    expect((await put(`/code/${sha256}`, { code })).status).toBe(200);
    await api.admin.query(
      `UPDATE code_texts SET held_until = now() - interval '1 s' WHERE id = $1`,
      [codeIdOf(sha256)],
    );
    await fill(1, 1, true);
    expect((await put(`/code/${sha256}`, { code })).status).toBe(409);
    await clear();
  });

  it('of a map is taken where 500 texts wait, and counts in place of the one that it replaces', async () => {
    const sha256 = await uploaded('full');
    await fill(499, 1, true);
    expect((await put(`/code/${sha256}/map`, { map })).status).toBe(200);
    await clear();
    const large = JSON.stringify({ version: 3, sources: [], mappings: 'A'.repeat(1_500_000) });
    const mapped = await uploaded('mapped anew');
    await fill(62, 1024 * 1024, true);
    expect((await put(`/code/${mapped}/map`, { map: large })).status).toBe(200);
    expect((await put(`/code/${mapped}/map`, { map: large })).status).toBe(200);
    await clear();
  });

  it('is refused beyond the bytes that a tenant has, waiting and in all', async () => {
    // Compressed, so that a spec writes no 256 MiB.
    await api.admin.query('ALTER TABLE code_texts ALTER COLUMN text SET STORAGE EXTENDED');
    await fill(64, 1024 * 1024, true);
    expect(await answerTo('too much waits')).toBe(409);
    await clear();
    await fill(256, 1024 * 1024, false);
    expect(await answerTo('too much in all')).toBe(409);
    await clear();
    expect(await answerTo('after that')).toBe(200);
  });
});

const map = '{"version":3,"sources":["code.ts"],"names":["a"],"mappings":"AAAA"}';

describe('a source map', () => {
  it('is kept beside its text, and is 404 without one and 413 above 2 MiB', async () => {
    const sha256 = await uploaded('mapped');
    expect((await put(`/code/${sha256}/map`, { map })).status).toBe(200);
    const [row] = await textsOf(sha256);
    expect(row?.map).toBeInstanceOf(Buffer);
    expect((await put(`/code/${bundleOf('none').sha256}/map`, { map })).status).toBe(404);
    const long = 'x'.repeat(2 * 1024 * 1024 + 1);
    expect((await put(`/code/${sha256}/map`, { map: long })).status).toBe(413);
  });

  it('that is none, or not flat, is 400, and nothing is kept but what is used', async () => {
    const sha256 = await uploaded('checked');
    const path = `/code/${sha256}/map`;
    for (const wrong of ['{}', '{', map.replace('"code.ts"', '[]'), map.replace('3', '2')]) {
      const { status, answer } = await put(path, { map: wrong });
      expect([status, Object.keys(answer.errors as object)]).toEqual([400, ['map']]);
    }
    expect((await textsOf(sha256))[0]?.map).toBeNull();
    await put(path, { map });
    const [row] = await textsOf(sha256);
    const place = codePlace(api.tenant.tenant_id, String(codeIdOf(sha256)), 'map');
    const kept = (await api.ctx.sealer.open(place, row?.map as Buffer)).toString();
    expect(JSON.parse(kept)).toEqual({ version: 3, sources: ['code.ts'], mappings: 'AAAA' });
  });

  it('is never readable by the data plane', async () => {
    const data = connectDatabase({ url: api.database.dataUrl, app: 'spec', connectionsMax: 1 });
    try {
      await expect(data.query('SELECT text FROM code_texts LIMIT 1')).resolves.toBeDefined();
      await expect(data.query('SELECT map FROM code_texts LIMIT 1')).rejects.toThrow(/permission/);
    } finally {
      await data.close();
    }
  });
});

describe('a text of another tenant', () => {
  it('is neither shown, nor mapped, nor named by a formula', async () => {
    const sha256 = await uploaded('foreign', api.foreign.management_key);
    expect((await api.get(`/code/${sha256}`)).status).toBe(404);
    expect((await put(`/code/${sha256}/map`, { map })).status).toBe(404);
    const { status, body } = await api.post('/reactor-formulas', {
      name: 'F',
      code_sha256: sha256,
    });
    const { errors } = body as { errors: Record<string, string[]> };
    expect([status, Object.keys(errors)]).toEqual([400, ['code_sha256']]);
  });

  it('may be the same: each tenant has its own', async () => {
    const { code, sha256 } = bundleOf('same');
    const keys = [api.tenant.management_key, api.foreign.management_key];
    for (const key of keys) expect((await put(`/code/${sha256}`, { code }, key)).status).toBe(200);
    expect(await textsOf(sha256)).toHaveLength(2);
    for (const key of keys) expect((await api.get(`/code/${sha256}`, key)).status).toBe(200);
  });
});

describe('a formula with a bundle', () => {
  it('is in force by its hash alone, and shows it', async () => {
    const sha256 = await uploaded('in force');
    const id = await formula({ code_sha256: sha256, runtime: 'node22' });
    expect(await inForce('formula', id)).toMatchObject({
      ...{ code: '', codeHash: sha256, bundleHash: sha256, runtime: 'node22' },
    });
    const answer = await shown(`/reactor-formulas/${id}`);
    expect(answer.code_sha256).toBe(sha256);
    expect(answer).not.toHaveProperty('code');
    const reactor = await api.made('/reactors', { name: 'R', configuration: {}, formula: { id } });
    expect(await shown(`/reactors/${reactor.id}`)).toMatchObject({
      formula: { code_sha256: sha256 },
    });
  });

  it('keeps it, and its runtime, when a client that knows nothing of bundles sends what it read', async () => {
    const sha256 = await uploaded('unknown');
    const id = await formula({ code_sha256: sha256, runtime: 'node22' });
    const { name, type } = await shown(`/reactor-formulas/${id}`);
    const { status } = await put(`/reactor-formulas/${id}`, { name: `${name} 2`, type });
    expect(status).toBe(200);
    expect((await api.patch(`/reactor-formulas/${id}`, { name: 'F 3' })).status).toBe(204);
    expect((await api.patch(`/reactor-formulas/${id}`, {})).status).toBe(204);
    expect(await shown(`/reactor-formulas/${id}`)).toMatchObject({
      ...{ name: 'F 3', code_sha256: sha256, runtime: 'node22' },
    });
  });

  it('takes back what GET answers, and becomes one with code by PUT or PATCH', async () => {
    const sha256 = await uploaded('replaced');
    const id = await formula({ code_sha256: sha256 });
    const read = await shown(`/reactor-formulas/${id}`);
    expect((await put(`/reactor-formulas/${id}`, read)).answer).toMatchObject({
      code_sha256: sha256,
    });
    const code = 'module.exports = () => ({})';
    expect((await api.patch(`/reactor-formulas/${id}`, { code })).status).toBe(204);
    const replaced = await shown(`/reactor-formulas/${id}`);
    expect(replaced).toMatchObject({ code });
    expect(replaced).not.toHaveProperty('code_sha256');
    expect((await api.patch(`/reactor-formulas/${id}`, { code_sha256: sha256 })).status).toBe(204);
    expect(await inForce('formula', id)).toMatchObject({ bundleHash: sha256 });
    expect((await api.patch(`/reactor-formulas/${id}`, { code: null })).status).toBe(400);
    expect((await api.patch(`/reactor-formulas/${id}`, { code_sha256: null })).status).toBe(400);
  });

  it('takes code beside its hash as code, and refuses code beside another', async () => {
    const code = 'module.exports = () => ({ raw: 1 })';
    const made = { name: 'F', code, code_sha256: codeHash(code) };
    expect((await api.post('/reactor-formulas', made)).body).toMatchObject({ code });
    const { status } = await api.post('/reactor-formulas', { ...made, code: `${code};` });
    expect(status).toBe(400);
  });

  it('holds its text: a sweep spares it, as long as it or a run of it may need it', async () => {
    const [held, unused] = [await uploaded('held'), await uploaded('unused')];
    const id = await formula({ code_sha256: held });
    for (const sha256 of [held, unused]) await sweepAfterAnHour(sha256);
    expect([await textsOf(held), await textsOf(unused)]).toMatchObject([[{}], []]);
    await api.admin.query('DELETE FROM code_texts WHERE id = $1', [codeIdOf(held)]);
    expect(await textsOf(held)).toHaveLength(1);
    expect((await api.delete(`/reactor-formulas/${id}`)).status).toBe(204);
    await sweepAfterAnHour(held);
    expect(await textsOf(held)).toHaveLength(1);
    const old = `UPDATE code_texts SET last_in_force_at = now() - interval '10 days' WHERE id = $1`;
    await api.admin.query(old, [codeIdOf(held)]);
    await sweepAfterAnHour(held);
    expect(await textsOf(held)).toEqual([]);
  });
});

describe('changes side by side that name the same bundles', () => {
  /** Begins the changes while another transaction holds what they need, and lets all of them wait. */
  const besideAnother = async <Answer>(
    statement: string,
    begin: () => Promise<Answer>[],
  ): Promise<Answer[]> => {
    const { begun } = await api.admin.transaction(async (sql) => {
      await sql.query(statement);
      const begun = begin();
      await waitFor(async () => {
        const waiting = await api.admin.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database()
             AND application_name = 'management-api' AND wait_event_type = 'Lock'`,
        );
        return waiting.length === begun.length;
      });
      return { begun };
    });
    return Promise.all(begun);
  };
  const touching = (sha256: string): string =>
    `UPDATE code_texts SET last_in_force_at = last_in_force_at WHERE id = '${codeIdOf(sha256)}'`;
  const isInForce = async (sha256: string): Promise<boolean> =>
    (await textsOf(sha256))[0]?.last_in_force_at === Infinity;

  it('put it in force when they have waited for each other', async () => {
    const sha256 = await uploaded('beside');
    const made = () => api.post('/reactor-formulas', { name: 'F', code_sha256: sha256 });
    const [answer] = await besideAnother(touching(sha256), () => [made().then((sent) => sent)]);
    expect([answer?.status, await isInForce(sha256)]).toEqual([201, true]);
  });

  it('put it out of force when they have waited for each other', async () => {
    const sha256 = await uploaded('ended beside');
    const id = await formula({ code_sha256: sha256 });
    expect(await isInForce(sha256)).toBe(true);
    const [answer] = await besideAnother(touching(sha256), () => [
      api.delete(`/reactor-formulas/${id}`).then((sent) => sent),
    ]);
    expect([answer?.status, await isInForce(sha256)]).toEqual([204, false]);
  });

  it('swap theirs without a deadlock', async () => {
    const [one, two] = [await uploaded('one side'), await uploaded('other side')];
    const ids = [await formula({ code_sha256: one }), await formula({ code_sha256: two })];
    // Both stop where they write their rows.
    const answers = await besideAnother('LOCK TABLE reactor_formulas IN SHARE MODE', () =>
      [two, one].map((hash, at) =>
        put(`/reactor-formulas/${ids[at]}`, { name: 'F', code_sha256: hash }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('a proxy with a bundle', () => {
  const proxy = async (members: object): Promise<string> =>
    (await api.made('/proxies', { name: 'P', destination_url: 'https://a.example', ...members }))
      .id;

  it('has it in force by its hash, keeps it, and gives it up', async () => {
    const sha256 = await uploaded('transform');
    const id = await proxy({ request_transform: { code_sha256: sha256, runtime: 'node22' } });
    const made = { code: '', codeHash: sha256, bundleHash: sha256, runtime: 'node22' };
    expect(await inForce('proxy', id)).toMatchObject({ requestTransform: made });
    const read = await shown(`/proxies/${id}`);
    expect(read.request_transform).toMatchObject({ code_sha256: sha256, runtime: 'node22' });

    const unaware = { name: 'P', destination_url: 'https://a.example', request_transform: {} };
    expect((await put(`/proxies/${id}`, unaware)).status).toBe(200);
    expect((await api.patch(`/proxies/${id}`, { name: 'P 2', request_transform: {} })).status).toBe(
      204,
    );
    expect(await inForce('proxy', id)).toMatchObject({ requestTransform: made });
    await sweepAfterAnHour(sha256);
    expect(await textsOf(sha256)).toHaveLength(1);

    const code = 'module.exports = ({ args }) => args';
    expect((await api.patch(`/proxies/${id}`, { request_transform: { code } })).status).toBe(204);
    const { requestTransform } = (await inForce('proxy', id)) ?? {};
    expect(requestTransform).toEqual({ code, codeHash: codeHash(code), runtime: 'node22' });
    expect((await api.patch(`/proxies/${id}`, { request_transform: null })).status).toBe(204);
    expect(await inForce('proxy', id)).toMatchObject({ requestTransform: null });
  });

  it('is refused with a text that is not there', async () => {
    const { sha256 } = bundleOf('nowhere');
    const document = {
      ...{ name: 'P', destination_url: 'https://a.example' },
      response_transform: { code_sha256: sha256 },
    };
    const { status, body } = await api.post('/proxies', document);
    const { errors } = body as { errors: object };
    expect([status, Object.keys(errors)]).toEqual([400, ['response_transform.code_sha256']]);
  });
});

describe('a deployment with bundles', () => {
  const itemOf = (sha256: string): object => ({
    ...{ kind: 'reactor', slug: 'bundled', name: 'Bundled', formula: { code_sha256: sha256 } },
  });
  const deploy = (items: readonly object[], more: object = {}) =>
    api.post('/deployments', { items, ...more });
  const deployedFormula = async (): Promise<unknown> => {
    const { data } = (await shown('/reactors?name=Bundled')) as { data: [{ formula: object }] };
    return data[0].formula;
  };

  it('names one that is not there by its item, and writes nothing', async () => {
    const { status, body } = await deploy([itemOf(bundleOf('missing').sha256)]);
    const { errors } = body as { errors: object };
    expect([status, Object.keys(errors)]).toEqual([400, ['items.0.formula.code_sha256']]);
  });

  it('changes nothing the second time, and is rolled back with its text, whatever was swept', async () => {
    const [one, two] = [await uploaded('one'), await uploaded('two')];
    const first = await deploy([itemOf(one)]);
    expect([first.status, first.text]).toEqual([200, first.text]);
    expect((await deploy([itemOf(one)])).body).toMatchObject({
      changes: [{ change: 'unchanged' }],
    });
    expect((await deploy([itemOf(two)])).body).toMatchObject({
      changes: [{ change: 'updated', members: ['formula.code_sha256'] }],
    });
    const old = `UPDATE code_texts SET last_in_force_at = now() - interval '10 days' WHERE id = $1`;
    await api.admin.query(old, [codeIdOf(one)]);
    await sweepAfterAnHour(one);
    const { id } = first.body as { id: string };
    const back = await api.post(`/deployments/${id}/rollback`, {});
    expect([back.status, back.text]).toEqual([200, back.text]);
    expect(await deployedFormula()).toMatchObject({ code_sha256: one });
    expect((await api.get(`/code/${one}`)).status).toBe(200);
  });
});
