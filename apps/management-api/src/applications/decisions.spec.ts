import { randomUUID } from 'node:crypto';
import { rule, useTestApi } from '../spec-api';

const api = useTestApi();
let tokenId: string;
let url: string;
const secret = 'the secret of the token';

beforeAll(async () => {
  tokenId = await api.storedToken({
    ...{ type: 'token', data: secret, mask: 'the mask', containers: ['/pci/high/'] },
  });
  url = await decisionsOf({ type: 'private', rules: [rule('reveal', '/pci/')] });
});

async function decisionsOf(application: object): Promise<string> {
  const { id } = await api.made('/applications', { name: 'a', ...application });
  return `/applications/${id}/decisions`;
}
const ask = (permission = 'token:read', token_id = tokenId, path = url) =>
  api.post(path, { token_id, permission });

it('says what the application may do with the token, by which rule, and reveals nothing', async () => {
  const revealed = await ask();
  expect([revealed.status, revealed.body]).toEqual([
    200,
    {
      allowed: true,
      container: '/pci/high/',
      transform: 'reveal',
      by: 'rule',
      rule: { description: '', ...rule('reveal', '/pci/') },
      reason: 'A rule for /pci/ of priority 1 gives the data.',
    },
  ]);
  expect((await ask('token:use')).body).toEqual({
    ...{ allowed: false, container: '/pci/high/', transform: null, by: null },
    reason: 'The permission token:use is needed for the container /pci/high/.',
  });
  const plain = await decisionsOf({ type: 'private', permissions: ['token:use'] });
  expect((await ask('token:use', tokenId.toUpperCase(), plain)).body).toMatchObject({
    ...{ allowed: true, transform: 'reveal', by: 'permission' },
  });
});

it('follows a change of the rules at once', async () => {
  const path = await decisionsOf({ type: 'private', permissions: ['token:read'] });
  expect((await ask('token:read', tokenId, path)).body).toMatchObject({ transform: 'mask' });
  await api.patch(path.replace('/decisions', ''), { rules: [rule('redact')] });
  expect((await ask('token:read', tokenId, path)).body).toMatchObject({ transform: 'redact' });
});

it('of an expired application is a conflict', async () => {
  const expires_at = new Date(Date.now() - 60_000).toISOString();
  const path = await decisionsOf({ type: 'private', permissions: ['token:read'], expires_at });
  expect(await ask('token:read', tokenId, path)).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
});

it('is refused for what is wrong, unknown or foreign', async () => {
  for (const id of ['nothing', randomUUID(), `{{${tokenId}}}`]) {
    const answer = await ask('token:read', id);
    expect([answer.status, answer.body]).toMatchObject([400, { code: 'unknown_token' }]);
    expect(answer.text).not.toContain(id);
  }
  const foreign = await api.storedToken({ type: 'token', data: 1 }, api.foreign.private_key);
  expect((await ask('token:read', foreign)).body).toMatchObject({ code: 'unknown_token' });
  const wrong = await ask('token:create');
  expect([wrong.status, wrong.body]).toMatchObject([
    400,
    { errors: { permission: [expect.stringContaining('must be')] } },
  ]);
  const other = await api.keyWith('management', ['application:update']);
  expect((await api.post(url, {}, other)).status).toBe(403);
  expect((await api.post(url, {}, 'no key')).status).toBe(401);
  const unknown = `/applications/${randomUUID()}/decisions`;
  expect((await ask('token:read', tokenId, unknown)).status).toBe(404);
});
