import { randomUUID } from 'node:crypto';
import { useTestApi } from '../spec-api';
import { operations, urlOf } from '../spec-operations';

const api = useTestApi();
const id = randomUUID();
const resources = { application: id, key: id, formula: id, reactor: id, proxy: id, token: id };
const ids = { ...resources, run: id, deployment: id };
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const docs = ['/docs', '/docs/openapi.json'].map((path) => ({ method: 'get', path, url: path }));
const served = [
  ...operations.map((operation) => ({ ...operation, url: urlOf(operation, ids) })),
  ...docs,
];
const urls = [...new Set(served.map(({ url }) => url))];

/** The methods of every path that fits: `/applications/key` is also the path of an id. */
function methodsAt(url: string): string[] {
  const fits = (path: string): boolean =>
    new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(url);
  const found = served.filter(({ path }) => fits(path)).map(({ method }) => method.toUpperCase());
  return [...new Set([...found, ...(found.includes('GET') ? ['HEAD'] : [])])].sort();
}

const send = (method: string, url: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${api.port}${url}`, {
    method,
    headers: { 'SVC-API-KEY': api.tenant.management_key },
  });

describe('a path of the API', () => {
  it.each(urls)('answers a method that it does not take with 405 and Allow: %s', async (url) => {
    const allowed = methodsAt(url);
    for (const method of methods.filter((one) => !allowed.includes(one))) {
      const answer = await fetch(`http://127.0.0.1:${api.port}${url}/`, { method });
      const told = answer.headers.get('allow')?.split(', ').sort();
      expect([method, answer.status, told]).toEqual([method, 405, allowed]);
      if (method === 'HEAD') continue;
      const told405 = {
        status: 405,
        detail: expect.stringMatching(/^Use (?:[A-Z, ]+ or )?[A-Z]+\.$/),
      };
      expect(await answer.json()).toMatchObject({ ...told405, code: 'method_not_allowed' });
    }
  });

  it('is another one in other letters, which nobody serves', async () => {
    for (const { method, url } of served) {
      const other = url.replace(/[a-z]/, (letter) => letter.toUpperCase());
      const { status } = await send(method.toUpperCase(), other);
      expect([other, status]).toEqual([other, 404]);
    }
    for (const other of ['/tenants/Self', `/applications/${id}/Keys`, `/reactors/${id}/runS`]) {
      expect([other, (await send('GET', other)).status]).toEqual([other, 404]);
      expect([other, (await send('POST', other)).status]).toEqual([other, 404]);
    }
  });

  it('is told in its right letters to whoever writes it in others, with or without a key', async () => {
    for (const { path, url, ...one } of served) {
      const method = one.method.toUpperCase();
      const other = url.replace(/[a-z]/, (letter) => letter.toUpperCase());
      const right = path.replaceAll(/:(\w+)/g, '{$1}');
      const answer = await fetch(`http://127.0.0.1:${api.port}${other}`, { method });
      const { detail } = (await answer.json()) as { detail: string };
      expect([answer.status, detail.replace(/\{\w+\}/g, '{}')]).toEqual([
        404,
        `There is no such path. Letter case counts: ${right.replace(/\{\w+\}/g, '{}')}`,
      ]);
    }
  });

  it('is told apart from an id that names nothing', async () => {
    for (const [path, noun] of [
      ['/tokens', 'token'],
      ['/applications', 'application'],
      ['/reactor-formulas', 'reactor formula'],
      ['/reactors', 'reactor'],
      ['/proxies', 'proxy'],
      ['/runs', 'run'],
      ['/webhook-deliveries', 'webhook delivery'],
    ] as const) {
      const key = path === '/tokens' ? api.tenant.private_key : api.tenant.management_key;
      for (const unknown of [id, 'planted']) {
        const answer = await api.get(`${path}/${unknown}`, key);
        expect([answer.status, answer.body]).toMatchObject([
          404,
          { code: 'not_found', detail: `There is no ${noun} with this id.` },
        ]);
      }
    }
    const none = await send('GET', '/nothing/planted?planted=1');
    expect([none.status, await none.text()]).toEqual([404, expect.not.stringContaining('planted')]);
  });

  it('is the same with a slash at its end, and with its ids in other letters', async () => {
    const { id: made } = await api.made('/applications', {
      ...{ name: 'a', type: 'private', permissions: ['token:use'] },
    });
    for (const path of [made, `${made}/`, made.toUpperCase(), `${made.toUpperCase()}/`]) {
      expect((await send('GET', `/applications/${path}`)).status).toBe(200);
    }
  });
});
