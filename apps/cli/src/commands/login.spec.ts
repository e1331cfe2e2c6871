import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDestination } from '@glovebox/testing';
import { AuthorsFolder } from '../run/spec-lender';
import { glovebox } from '../spec-program';

it('a key that another login stores meanwhile is kept', async () => {
  const folder = new AuthorsFolder();
  const server = await startDestination((_, response) => {
    folder.store({ url: server.url, privateKey: 'key_of_the_other_login' });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'a', name: 'Deploys', type: 'management' }));
  });
  const env = { ...folder.env, GLOVEBOX_KEY: 'key_of_this_login' };
  const ended = await glovebox(['login', '--url', server.url], { env });
  expect(ended).toMatchObject({ code: 0 });
  const stored = readFileSync(join(folder.path, 'glovebox', 'profiles.json'), 'utf8');
  expect(JSON.parse(stored)).toEqual({
    default: {
      ...{ url: server.url, managementKey: 'key_of_this_login' },
      privateKey: 'key_of_the_other_login',
    },
  });
  await server.close();
  folder.remove();
});
