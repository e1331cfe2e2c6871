import { startDestination, type Destination } from '@glovebox/testing';
import { contextOf } from '../context';
import { AuthorsFolder, interruptionsOf } from '../run/spec-lender';
import { listen } from './listen';

const { interruptions } = interruptionsOf();
let console: Destination;
let api: Destination;
let folder: AuthorsFolder;
beforeAll(async () => {
  console = await startDestination(({ method }, response) => {
    if (method === 'GET') return interruptions.end();
    response.writeHead(method === 'POST' ? 201 : 204, { 'Content-Type': 'application/json' });
    response.end(method === 'POST' ? '{"id":"one","after":"0"}' : undefined);
  });
  api = await startDestination();
  folder = new AuthorsFolder();
});
afterAll(async () => {
  folder.remove();
  await Promise.all([api.close(), console.close()]);
});

it('a listener of a session is ended at the console, which alone knows the session', async () => {
  const session = { url: `${console.url}/api`, key: 'session_of_ada', expiresAt: '2999-01-01' };
  folder.store({ url: api.url, session });
  const settings = { color: false, url: api.url };
  const context = contextOf(settings, folder.env, process, interruptions);
  await listen(context, { forwardTo: '3000', verify: false });
  const calls = console.requests.map(({ method, url }) => [method, new URL(url, api.url).pathname]);
  expect(calls).toEqual([
    ['POST', '/api/webhook-listeners'],
    ['GET', '/api/webhook-listeners/one/webhooks'],
    ['DELETE', '/api/webhook-listeners/one'],
  ]);
  expect(api.requests).toEqual([]);
});
