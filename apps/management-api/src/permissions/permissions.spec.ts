import { mayHold, permissions } from '@glovebox/access';
import { useTestApi } from '../spec-api';

const api = useTestApi();

it('200: a bare list of all, to whoever has a key', async () => {
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

it('what it says of a type is what an application of the type may be given', async () => {
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

it('401', async () => {
  expect((await api.get('/permissions', 'nobody')).status).toBe(401);
});
