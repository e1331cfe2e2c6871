import { useTestApi } from '../spec-api';

const api = useTestApi();
let proxyId: string;

beforeAll(async () => {
  const made = await api.post('/proxies', { ...proxy, configuration: { KEPT: 'as it is' } });
  proxyId = (made.body as { id: string }).id;
});

const proxy = { name: 'p', destination_url: 'https://example.com' };
const formula = { name: 'f', code: 'module.exports = () => 1' };
const application = { name: 'a', type: 'private', permissions: ['token:use'] };

/** Nearly as many members as 1 MiB holds, and nearly as many values as a body may have. */
const members = Object.fromEntries(Array.from({ length: 75_000 }, (_, at) => [`m${at}`, 'x']));
const words = Array.from({ length: 99_900 }, () => 'x');
const objects = Array.from({ length: 99_900 }, () => ({}));

/** Measures processor time, which other processes do not lengthen. Parsing takes some 30 ms. */
async function spentMs(work: () => PromiseLike<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Unbounded work takes 5 to 16 s. Bounded, with the caller in this process, it takes 0.3 s. */
const spentMsMax = 4_000;

/** The parser refuses objects this wide, so the error names no member. */
const unread = 'code';
type Row = [method: 'post' | 'put' | 'patch', path: string, body: object, wrong: string];

it.each<Row>([
  ['post', '/tokens', { data: 1, metadata: members }, unread],
  ['post', '/tokens', { data: 1, containers: words }, 'containers'],
  ['post', '/tokens', { data: 1, type: members }, unread],
  ['post', '/proxies', { ...proxy, configuration: members }, unread],
  ['post', '/proxies', { ...proxy, name: members }, unread],
  ['post', '/proxies', { ...proxy, request_transform: members }, unread],
  ['put', '/proxies/:id', { ...proxy, configuration: members }, unread],
  ['patch', '/proxies/:id', { configuration: members }, unread],
  ['patch', '/proxies/:id', { name: members }, unread],
  ['put', '/tenants/self', { name: 't', settings: members }, unread],
  ['post', '/applications', { ...application, permissions: words }, 'permissions'],
  ['post', '/applications', { ...application, rules: objects }, 'rules'],
  [
    'post',
    '/applications',
    { ...application, rules: [{ permissions: words }] },
    'rules.0.permissions',
  ],
  ['post', '/reactor-formulas', { ...formula, configuration: objects }, 'configuration'],
  ['post', '/reactor-formulas', { ...formula, request_parameters: words }, 'request_parameters'],
  ['post', '/reactor-formulas', { ...formula, request_parameters: members }, unread],
  ['post', '/reactors', { name: 'r', formula: members }, unread],
  ['post', '/reactors', { name: 'r', configuration: members }, unread],
])(
  '%s %s refuses a body for its size before anything walks through it: %#',
  async (method, path, body, wrong) => {
    const key = path === '/tokens' ? api.tenant.private_key : api.tenant.management_key;
    const text = JSON.stringify(body);
    expect(text.length).toBeLessThan(1024 * 1024);
    let answer: { status: number; body: unknown } | undefined;
    const spent = await spentMs(async () => {
      answer = await api[method](path.replace(':id', proxyId), text, key);
    });
    const body400 =
      wrong === unread ? { code: 'invalid_json' } : { errors: { [wrong]: [expect.any(String)] } };
    expect(answer).toMatchObject({ status: 400, body: body400 });
    expect(spent).toBeLessThan(spentMsMax);
  },
);

const named = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 'x']));

describe('a map', () => {
  it('has at most 100 members, after a PATCH too', async () => {
    const full = { ...proxy, configuration: named(100) };
    const made = await api.post('/proxies', full);
    expect(made.status).toBe(201);
    const { id } = made.body as { id: string };
    const refused = {
      status: 400,
      body: { errors: { configuration: ['must have at most 100 members'] } },
    };
    expect(await api.post('/proxies', { ...proxy, configuration: named(101) })).toMatchObject(
      refused,
    );
    expect(await api.patch(`/proxies/${id}`, { configuration: { more: 'x' } })).toMatchObject(
      refused,
    );
    const exchanged = await api.patch(`/proxies/${id}`, { configuration: { n0: null, more: 'x' } });
    expect(exchanged.status).toBe(204);
    const settings = { name: 't', settings: named(101) };
    expect((await api.put('/tenants/self', settings)).status).toBe(400);
  });

  it('has names of at most 100 characters', async () => {
    const of = (length: number) => ({ ['n'.repeat(length)]: 'x' });
    expect((await api.post('/proxies', { ...proxy, configuration: of(100) })).status).toBe(201);
    expect(await api.post('/proxies', { ...proxy, configuration: of(101) })).toMatchObject({
      status: 400,
      body: { errors: { configuration: ['must have names of at most 100 characters'] } },
    });
    expect((await api.put('/tenants/self', { name: 't', settings: of(101) })).status).toBe(400);
  });

  it('of settings has values of at most 1,000 characters', async () => {
    const of = (length: number) => ({ name: 't', settings: { value: 'x'.repeat(length) } });
    expect((await api.put('/tenants/self', of(1_000))).status).toBe(200);
    expect(await api.put('/tenants/self', of(1_001))).toMatchObject({
      status: 400,
      body: { errors: { settings: ['must have values of at most 1000 characters'] } },
    });
  });
});

describe('a configuration', () => {
  /** Has that many bytes of names and values, in half as many characters. */
  const of = (bytes: number) => ({ ab: 'é'.repeat((bytes - 2) / 2) });
  const tooLarge = {
    status: 400,
    body: { errors: { configuration: ['must have at most 65536 bytes of names and values'] } },
  };

  it('of a proxy is limited to 64 KiB in all, however it is written', async () => {
    const made = await api.post('/proxies', { ...proxy, configuration: of(65_536) });
    expect(made.status).toBe(201);
    const path = `/proxies/${(made.body as { id: string }).id}`;
    const larger = { ...proxy, configuration: of(65_538) };
    expect(await api.post('/proxies', larger)).toMatchObject(tooLarge);
    expect(await api.put(path, larger)).toMatchObject(tooLarge);
    expect(await api.patch(path, { configuration: { c: 1 } })).toMatchObject(tooLarge);
    expect((await api.patch(path, { configuration: { ab: null, c: 1 } })).status).toBe(204);
  });

  it('of a reactor is limited to 64 KiB in all, however it is written', async () => {
    const declared = [
      { name: 'ab', type: 'string' },
      { name: 'c', type: 'string' },
    ];
    const { body } = await api.post('/reactor-formulas', { ...formula, configuration: declared });
    const reactor = { name: 'r', formula: { id: (body as { id: string }).id } };
    const fits = { ...of(65_534), c: 0 };
    const created = await api.post('/reactors', { ...reactor, configuration: fits });
    expect(created.status).toBe(201);
    const path = `/reactors/${(created.body as { id: string }).id}`;
    const larger = { ...reactor, configuration: { ...of(65_534), c: 100 } };
    expect(await api.post('/reactors', larger)).toMatchObject(tooLarge);
    expect(await api.put(path, larger)).toMatchObject(tooLarge);
    expect(await api.patch(path, { configuration: { c: 100 } })).toMatchObject(tooLarge);
  });
});
