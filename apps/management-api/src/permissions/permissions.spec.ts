import { mayHold, permissions } from '@glovebox/access';
import { useTestApi } from '../spec-api';

const api = useTestApi();

it('GET /permissions answers every valid key with a bare list of all permissions', async () => {
  for (const key of [api.tenant.management_key, api.foreign.private_key]) {
    const answer = await api.get('/permissions', key);
    expect(answer.status).toBe(200);
    const listed = answer.body as { type: string; application_types: string[] }[];
    expect(listed.map(({ type }) => type)).toEqual(permissions);
    expect(listed).toContainEqual({
      type: 'token:create',
      description: 'Create tokens',
      application_types: ['private', 'public'],
    });
  }
});

it('GET /permissions lists for each type the permissions that its applications may be given', async () => {
  const listed = (await api.get('/permissions')).body as {
    type: (typeof permissions)[number];
    application_types: string[];
  }[];
  for (const type of ['private', 'public', 'management'] as const) {
    const open = listed.filter(({ application_types: types }) => types.includes(type));
    const wanted = open.map((permission) => permission.type);
    expect(wanted).toEqual(permissions.filter((permission) => mayHold(type, permission)));
    const created = await api.post('/applications', { name: 'n', type, permissions: wanted });
    expect(created.status).toBe(201);
  }
});

it('GET /permissions answers 401 without a valid key', async () => {
  expect((await api.get('/permissions', 'nobody')).status).toBe(401);
});
