import { readerVersion } from '@glovebox/database';
import type { DefinitionKind } from '@glovebox/definitions';
import { rewriteDefinition } from '@glovebox/testing';
import { tokenTypes } from '@glovebox/vault';
import { keyRing, useTestApi } from '../spec-api';

const api = useTestApi();

const needReader = async (v: number, kind: DefinitionKind, id: string): Promise<void> => {
  const stores = { adminUrl: api.database.adminUrl, keyRing };
  await rewriteDefinition(stores, { kind, id }, (payload) => ({ ...payload, v }));
  await api.ctx.definitions.follower.reach(Number.MAX_SAFE_INTEGER);
};

const tooOld = { status: 503, body: { code: 'newer_definition' } };
const destination = { destination_url: 'https://example.com' };

it('a key of an application that needs a newer process is refused with 503', async () => {
  const application = await api.made<{ id: string; key: string }>('/applications', {
    name: 'later',
    type: 'management',
    permissions: ['proxy:read'],
  });
  expect((await api.get('/proxies', application.key)).status).toBe(200);
  await needReader(readerVersion + 1, 'application', application.id);
  expect(await api.get('/proxies', application.key)).toMatchObject(tooOld);
  await needReader(1, 'application', application.id);
  expect((await api.get('/proxies', application.key)).status).toBe(200);
});

it('a change of a proxy that needs a newer process is refused, and changes nothing', async () => {
  const proxy = await api.made('/proxies', { name: 'P', ...destination });
  await needReader(readerVersion + 1, 'proxy', proxy.id);
  const path = `/proxies/${proxy.id}`;
  expect(await api.patch(path, { require_auth: false })).toMatchObject(tooOld);
  expect(await api.put(path, { name: 'Q', ...destination })).toMatchObject(tooOld);
  expect((await api.get(path)).body).toMatchObject({ name: 'P', require_auth: true });
  const lastVersion = api.ctx.definitions.follower.head?.version;
  await api.ctx.definitions.follower.reach(Number.MAX_SAFE_INTEGER);
  expect(api.ctx.definitions.follower.head?.version).toBe(lastVersion);
  await needReader(1, 'proxy', proxy.id);
  expect((await api.patch(path, { require_auth: false })).status).toBe(204);
});

it('a proxy that needs a newer process may be deleted', async () => {
  const proxy = await api.made('/proxies', { name: 'P', ...destination });
  await needReader(readerVersion + 1, 'proxy', proxy.id);
  expect((await api.delete(`/proxies/${proxy.id}`)).status).toBe(204);
  expect(await api.inForce('proxy', proxy.id)).toBeUndefined();
});

it.each(tokenTypes)('readers understand a step that makes a token of the type %s', async (type) => {
  const step = { type: 'tokenize', options: { path: '$.a', token: { type } } };
  const application = await api.made('/applications', {
    name: 'tokenizing',
    type: 'private',
    permissions: ['token:create'],
  });
  const { id } = await api.made('/proxies', {
    name: 'P',
    ...destination,
    application: { id: application.id },
    request_transforms: [step],
  });
  expect(await api.inForce('proxy', id)).toMatchObject({ requestSteps: [step] });
});
