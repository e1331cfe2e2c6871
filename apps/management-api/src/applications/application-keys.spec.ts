import { randomUUID } from 'node:crypto';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';

const api = useTestApi();

interface Key {
  id: string;
  key: string;
  last_used_at?: string;
}

const text = expect.any(String) as string;
const input = { name: 'Shop', type: 'private', permissions: ['token:create'] };
const keyText = expect.stringMatching(/^key_[0-9A-Za-z]{33}$/) as string;

const made = (): Promise<Key> => api.made<Key>('/applications', input);
const moreOf = (id: string): Promise<Key> => api.made<Key>(`/applications/${id}/keys`, '');

const list = async (id: string): Promise<Key[]> =>
  (await api.get(`/applications/${id}/keys`)).body as Key[];

const statusWith = async (key: string): Promise<number> =>
  (await api.post('/tokens', { data: 1 }, key)).status;

describe('POST /applications/{id}/keys', () => {
  it('answers 201 with one more key, shown only once, and both keys work', async () => {
    const { id, key } = await made();
    const created = await api.post(`/applications/${id}/keys`, {});
    expect(created.status).toBe(201);
    expect(created.body).toEqual({ id: text, key: keyText, created_by: text, created_at: text });
    const second = created.body as Key;
    expect(await Promise.all([key, second.key].map(statusWith))).toEqual([201, 201]);
    expect((await api.get(`/applications/${id}/keys`)).text).not.toContain('key_');
  });

  it('creates ten keys at once, and all of them work', async () => {
    const { id } = await made();
    const keys = await Promise.all(Array.from({ length: 10 }, () => moreOf(id)));
    expect(await Promise.all(keys.map(({ key }) => statusWith(key)))).toEqual(Array(10).fill(201));
    expect(await list(id)).toHaveLength(11);
  });

  it('answers 401, 403, 415, 404 and 400', async () => {
    const { id } = await made();
    const path = `/applications/${id}/keys`;
    expect((await api.post(path, {}, 'nobody')).status).toBe(401);
    const reader = await api.keyWith('management', ['application:read', 'application:create']);
    expect((await api.post(path, {}, reader)).status).toBe(403);
    expect((await api.post(path, {}).set('Content-Type', 'text/plain')).status).toBe(415);
    expect((await api.post(path, {}, api.foreign.management_key)).status).toBe(404);
    expect((await api.post(`/applications/${randomUUID()}/keys`, {})).status).toBe(404);
    expect((await api.post(path, '{')).status).toBe(400);
    expect(await list(id)).toHaveLength(1);
  });
});

describe('GET /applications/{id}/keys', () => {
  it('answers 200 with a bare list, newest first, and shows each key by its id', async () => {
    const { id } = await made();
    const { key: _, ...second } = await moreOf(id);
    const keys = await list(id);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toEqual(second);
    expect(keys[1]).toEqual({ id: text, created_by: text, created_at: text });
    for (const wanted of [second.id, second.id.toUpperCase()]) {
      const one = await api.get(`/applications/${id}/keys/${wanted}`);
      expect([one.status, one.body]).toEqual([200, second]);
    }
  });

  it('answers 401, 403 and 404', async () => {
    const { id } = await made();
    const [{ id: keyId } = { id: '' }] = await list(id);
    const other = await made();
    for (const path of [`/applications/${id}/keys`, `/applications/${id}/keys/${keyId}`]) {
      expect((await api.get(path, 'nobody')).status).toBe(401);
      expect((await api.get(path, api.tenant.private_key)).status).toBe(403);
      expect((await api.get(path, api.foreign.management_key)).status).toBe(404);
    }
    for (const path of [
      `/applications/${randomUUID()}/keys`,
      `/applications/${id}/keys/${randomUUID()}`,
      `/applications/${id}/keys/1`,
      `/applications/${other.id}/keys/${keyId}`,
    ]) {
      expect((await api.get(path)).status).toBe(404);
    }
  });
});

describe('DELETE /applications/{id}/keys/{key_id}', () => {
  it('answers 204, then 404; the key is refused from the next call on, and the others still work', async () => {
    const { id, key } = await made();
    for (let round = 0; round < 20; round += 1) {
      const { id: keyId, key: second } = await moreOf(id);
      expect(await statusWith(second)).toBe(201);
      const gone = await api.delete(`/applications/${id}/keys/${keyId}`);
      expect([gone.status, gone.text]).toEqual([204, '']);
      expect(await statusWith(second)).toBe(401);
      expect(await statusWith(key)).toBe(201);
      expect((await api.delete(`/applications/${id}/keys/${keyId}`)).status).toBe(404);
    }
  });

  it('deletes the last key too, and the application can get another one', async () => {
    const { id, key } = await made();
    const [{ id: keyId } = { id: '' }] = await list(id);
    expect((await api.delete(`/applications/${id}/keys/${keyId}`)).status).toBe(204);
    expect(await statusWith(key)).toBe(401);
    expect(await list(id)).toEqual([]);
    expect(await statusWith((await moreOf(id)).key)).toBe(201);
  });

  it('answers 401, 403 and 404', async () => {
    const { id, key } = await made();
    const [{ id: keyId } = { id: '' }] = await list(id);
    const path = `/applications/${id}/keys/${keyId}`;
    expect((await api.delete(path, 'nobody')).status).toBe(401);
    const reader = await api.keyWith('management', ['application:read', 'application:delete']);
    expect((await api.delete(path, reader)).status).toBe(403);
    expect((await api.delete(path, api.foreign.management_key)).status).toBe(404);
    const other = await made();
    expect((await api.delete(`/applications/${other.id}/keys/${keyId}`)).status).toBe(404);
    expect((await api.delete(`/applications/${id}/keys/nope`)).status).toBe(404);
    expect(await statusWith(key)).toBe(201);
  });
});

describe('POST /applications/{id}/regenerate', () => {
  it('answers 200 with a new key, and refuses all other keys from the next call on', async () => {
    const { id, key } = await made();
    const { key: second } = await moreOf(id);
    const answer = await api.post(`/applications/${id}/regenerate`, '');
    expect(answer.status).toBe(200);
    const shown = (await api.get(`/applications/${id}`)).body as object;
    expect(answer.body).toEqual({ ...shown, key: keyText });
    const fresh = (answer.body as Key).key;
    expect(await Promise.all([key, second, fresh].map(statusWith))).toEqual([401, 401, 201]);
    expect(await list(id)).toHaveLength(1);
  });

  it('answers an application that regenerates its own key', async () => {
    const permissions = ['application:update', 'application:read'];
    const created = await api.post('/applications', { ...input, type: 'management', permissions });
    const { id, key } = created.body as Key;
    const answer = await api.post(`/applications/${id}/regenerate`, {}, key);
    expect(answer.status).toBe(200);
    expect((await api.get('/applications/key', key)).status).toBe(401);
    expect((await api.get('/applications/key', (answer.body as Key).key)).status).toBe(200);
  });

  it('answers 401, 403, 415, 404 and 400', async () => {
    const { id, key } = await made();
    const path = `/applications/${id}/regenerate`;
    expect((await api.post(path, {}, 'nobody')).status).toBe(401);
    const reader = await api.keyWith('management', ['application:read', 'application:create']);
    expect((await api.post(path, {}, reader)).status).toBe(403);
    expect((await api.post(path, {}).set('Content-Type', 'text/plain')).status).toBe(415);
    expect((await api.post(path, {}, api.foreign.management_key)).status).toBe(404);
    expect((await api.post(path, '[')).status).toBe(400);
    expect(await statusWith(key)).toBe(201);
  });
});

describe('the last use of a key', () => {
  it('is shown soon after the use, for that key alone', async () => {
    const { id, key } = await made();
    const { id: unused } = await moreOf(id);
    const before = Date.now();
    expect(await statusWith(key)).toBe(201);
    await waitFor(async () => (await list(id)).some(({ last_used_at }) => last_used_at));
    const [second, first] = await list(id);
    expect(second).toMatchObject({ id: unused });
    expect(second).not.toHaveProperty('last_used_at');
    expect(Date.parse(first?.last_used_at ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('does not wait for a locked row, and does not delay the call', async () => {
    const { id, key } = await made();
    await api.admin.transaction(async (sql) => {
      await sql.query('SELECT 1 FROM application_keys WHERE application_id = $1 FOR UPDATE', [id]);
      expect(await statusWith(key)).toBe(201);
      await api.ctx.keyUses.stop();
    });
    expect(await list(id)).toEqual([{ id: text, created_by: text, created_at: text }]);
  });
});
