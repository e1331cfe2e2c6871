import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { fastest } from '@glovebox/testing';
import { useTestApi } from './spec-api';

const api = useTestApi();

interface Kind {
  readonly path: string;
  readonly body: () => object;
}

const formula = {
  ...{ name: 'f', code: 'module.exports = () => 1' },
  configuration: [{ name: 'KEY', type: 'string' }],
};
let formulaId: string;
beforeAll(async () => {
  formulaId = (await api.made('/reactor-formulas', formula)).id;
});

const formulas: Kind = { path: '/reactor-formulas', body: () => formula };
const reactors: Kind = {
  path: '/reactors',
  body: () => ({ name: 'r', configuration: { KEY: 'one' }, formula: { id: formulaId } }),
};
const proxies: Kind = {
  path: '/proxies',
  body: () => ({ name: 'p', destination_url: 'https://example.com', configuration: { A: 'b' } }),
};
const applications: Kind = {
  path: '/applications',
  body: () => ({ name: 'a', type: 'private', permissions: ['token:use'] }),
};

const tagIn = ({ status, text, headers }: Response): string => {
  expect([status < 300, text]).toEqual([true, text]);
  const { etag } = headers as { etag?: string };
  // Strong, and of one length, whatever the version.
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  return String(etag);
};
const idIn = ({ body }: Response): string => (body as { id: string }).id;
const refused = { status: 412, body: { code: 'precondition_failed', status: 412 } };

describe.each([formulas, reactors, proxies, applications])('the tag of $path', ({ path, body }) => {
  let url: string;
  let made: string;
  beforeEach(async () => {
    const answer = await api.post(path, body());
    made = tagIn(answer);
    url = `${path}/${idIn(answer)}`;
  });
  const current = async (): Promise<string> => tagIn(await api.get(url));
  const named = async (): Promise<unknown> => ((await api.get(url)).body as { name: string }).name;

  it('is told by each answer, and changes with each change alone', async () => {
    const seen = new Set([made]);
    expect([await current(), await current()]).toEqual([made, made]);
    for (const change of [
      () => api.put(url, body()),
      () => api.patch(url, { name: 'other' }),
      () => api.put(url, body()),
    ]) {
      const tag = tagIn(await change());
      expect(seen.has(tag)).toBe(false);
      seen.add(tag);
      expect(await current()).toBe(tag);
    }
    expect(tagIn(await api.patch(url, {}))).toBe(await current());
    expect(seen.has(tagIn(await api.post(path, body())))).toBe(false);
  });

  it('in If-Match lets a change through, and with that of another version nothing changes', async () => {
    const changed = tagIn(await api.patch(url, { name: 'changed' }).set('If-Match', made));
    for (const request of [
      () => api.put(url, { ...body(), name: 'lost' }),
      () => api.patch(url, { name: 'lost' }),
      () => api.patch(url, {}),
      () => api.delete(url),
    ]) {
      const answer = await request().set('If-Match', made);
      expect(answer).toMatchObject(refused);
      expect(answer.headers).not.toHaveProperty('etag');
    }
    expect([await named(), await current()]).toEqual(['changed', changed]);
    const put = await api.put(url, { ...body(), name: 'put' }).set('If-Match', changed);
    expect([put.status, await named()]).toEqual([200, 'put']);
    const deleted = await api.delete(url).set('If-Match', tagIn(put));
    expect([deleted.status, deleted.headers]).toEqual([
      204,
      expect.not.objectContaining({ etag: expect.anything() as unknown }),
    ]);
    expect((await api.delete(url).set('If-Match', '*')).status).toBe(404);
  });

  it('lets one of ten through that change the same version at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, nth) =>
        api.patch(url, { name: `writer ${nth}` }).set('If-Match', made),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([204, ...Array<number>(9).fill(412)]);
    const first = answers.findIndex(({ status }) => status === 204);
    expect(await named()).toBe(`writer ${first}`);
    expect(await current()).toBe(answers[first]?.headers['etag']);
  });
});

describe('If-Match', () => {
  let url: string;
  let tag: string;
  beforeAll(async () => {
    url = `${formulas.path}/${idIn(await api.post(formulas.path, formula))}`;
  });
  beforeEach(async () => {
    tag = tagIn(await api.get(url));
  });
  const patched = async (header: string): Promise<number> =>
    (await api.patch(url, { name: 'x' }).set('If-Match', header)).status;

  it.each<[number, string, (now: string) => string]>([
    [204, 'the tag', (now) => now],
    [204, 'any version', () => '*'],
    [204, 'any version, between blanks', () => ' * '],
    [204, 'a list with the tag', (now) => `"a", ${now} ,"b"`],
    [204, 'a list with empty elements', (now) => `, ,${now},`],
    [204, 'a tag with a comma, and the tag', (now) => `"a,b", ${now}`],
    [204, 'a weak tag, and the tag', (now) => `W/"a", ${now}`],
    [412, 'another tag', () => '"a"'],
    [412, 'an empty tag', () => '""'],
    [412, 'the tag as a weak one', (now) => `W/${now}`],
    [412, 'the tag within another one', (now) => `"x${now.slice(1)}`],
    [400, 'no quotes', (now) => now.slice(1, -1)],
    [400, 'no end', (now) => now.slice(0, -1)],
    [400, 'commas alone', () => ', ,'],
    [400, '* in a list', (now) => `*, ${now}`],
    [400, 'no comma', (now) => `${now} ${now}`],
    [400, 'a small w', (now) => `w/${now}`],
    [400, 'a blank in a tag', () => '"a b"'],
  ])('is %i for %s', async (status, _, header) => {
    expect(await patched(header(tag))).toBe(status);
  });

  it.each<[number, string, (now: string) => readonly string[]]>([
    [204, 'two headers, which are one list', (now) => ['"a"', now]],
    [400, 'an empty header', () => ['']],
  ])('is %i for %s', async (status, _, headers) => {
    const answer = await fetch(`http://127.0.0.1:${api.port}${url}`, {
      method: 'PATCH',
      headers: [
        ['SVC-API-KEY', api.tenant.management_key],
        ['Content-Type', 'application/merge-patch+json'],
        ...headers(tag).map((value): [string, string] => ['If-Match', value]),
      ],
      body: '{"name":"x"}',
    });
    expect(answer.status).toBe(status);
  });

  it('of 10,000 tags costs little', async () => {
    const tags = Array.from({ length: 10_000 }, () => '"a"').join();
    const patchMs = async (): Promise<number> => {
      const header = `${tags},${tagIn(await api.get(url))}`;
      const begun = performance.now();
      expect(await patched(header)).toBe(204);
      return performance.now() - begun;
    };
    expect(await fastest(1_000, patchMs)).toBeLessThan(1_000);
  });

  it('is looked at after the key, the permission and the id', async () => {
    const { private_key: key } = api.tenant;
    expect((await api.patch(url, {}, 'no key').set('If-Match', '"x"')).status).toBe(401);
    expect((await api.patch(url, {}, key).set('If-Match', '"x"')).status).toBe(403);
    const gone = `${formulas.path}/${randomUUID()}`;
    expect((await api.patch(gone, {}).set('If-Match', '"x"')).status).toBe(404);
  });
});

it('the tag of a reactor changes with values of its configuration, and not with its formula', async () => {
  const made = await api.post(reactors.path, reactors.body());
  const url = `${reactors.path}/${idIn(made)}`;
  const changed = await api.patch(url, { configuration: { KEY: 'two' } });
  expect(tagIn(changed)).not.toBe(tagIn(made));
  await api.patch(`${formulas.path}/${formulaId}`, { name: 'renamed' });
  expect(tagIn(await api.get(url))).toBe(tagIn(changed));
});

it('the tag of an application changes with its keys', async () => {
  const made = await api.post(applications.path, applications.body());
  const url = `${applications.path}/${idIn(made)}`;
  const key = await api.post(`${url}/keys`, '');
  const withKey = tagIn(await api.get(url));
  expect(withKey).not.toBe(tagIn(made));
  // It is no tag of the key.
  expect(key.headers).not.toHaveProperty('etag');
  expect((await api.delete(`${url}/keys/${idIn(key)}`).set('If-Match', '"x"')).status).toBe(204);
  const without = tagIn(await api.get(url));
  expect(without).not.toBe(withKey);
  const regenerated = tagIn(await api.post(`${url}/regenerate`, ''));
  expect(regenerated).not.toBe(without);
  expect(tagIn(await api.get(url))).toBe(regenerated);
});

it('the tags of two processes are the same', async () => {
  const other = await api.startAnother();
  const url = `${formulas.path}/${formulaId}`;
  expect(tagIn(await other.get(url, api.tenant.management_key))).toBe(tagIn(await api.get(url)));
});

it('a tenant has a tag that its changes ask for, and a rotated secret changes', async () => {
  const url = '/tenants/self';
  const { management_key: key, name } = api.foreign;
  const current = async () => tagIn(await api.get(url, key));
  const put = (tag: string, to: string) => api.put(url, { name: to }, key).set('If-Match', tag);
  const read = await current();
  const changed = tagIn(await put(read, 'changed'));
  expect([changed === read, await current()]).toEqual([false, changed]);
  expect(await put(read, 'lost')).toMatchObject(refused);
  expect(await api.delete(`${url}?name=changed`, key).set('If-Match', read)).toMatchObject(refused);
  expect((await api.get(url, key)).body).toMatchObject({ name: 'changed' });
  const rotate = () => api.post(`${url}/webhook-secret/rotate`, '', key).set('If-Match', changed);
  const rotated = tagIn(await rotate());
  expect([rotated === changed, await current()]).toEqual([false, rotated]);
  expect(await rotate()).toMatchObject(refused);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, nth) => put(rotated, `writer ${nth}`)),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    200,
    ...Array<number>(9).fill(412),
  ]);
  await api.put(url, { name }, key);
});
