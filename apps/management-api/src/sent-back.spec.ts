import { createAuthority } from '@glovebox/testing';
import { UpdateApplication } from './applications/applications.dto';
import { codeHash } from './code/code-texts';
import { ProxyInput } from './proxies/proxies.dto';
import { FormulaInput } from './reactor-formulas/reactor-formulas.dto';
import { CreateReactor } from './reactors/reactors.dto';
import { rule, useTestApi } from './spec-api';
import { UpdateTenant } from './tenants/tenants.dto';
import { CreateToken } from './tokens/tokens.dto';
import { membersOf, type Dto } from './validation/dto-members';

const api = useTestApi();

const code = 'module.exports = async ({ args }) => args';
const authority = createAuthority();
const { cert, key: certKey } = authority.issue('DNS:client.test');
const step = {
  type: 'append',
  options: {
    location: 'body',
    path: '$.source',
    value: { z: [null, 'é'], a: 10.5 },
    required: true,
  },
};
const tokenizing = {
  type: 'tokenize',
  options: {
    path: '$.cards[*]',
    token: {
      type: 'card',
      containers: ['/pci/low/'],
      mask: { number: '{{ data.number | last4 }}' },
      metadata: { from: 'proxy' },
      deduplicate_token: true,
    },
  },
};
const formula = {
  name: 'F',
  type: 'private',
  description: 'd',
  icon: 'i',
  code,
  configuration: [
    { name: 'KEY', description: '', type: 'string' },
    { name: 'LIMIT', type: 'number' },
  ],
  request_parameters: [
    { name: 'a.b', description: 'x', type: 'object', optional: true, loggable: true },
    { name: 'c', type: 'number' },
  ],
  runtime: 'node20',
};
const application = {
  name: 'A',
  type: 'public',
  permissions: ['token:create'],
  rules: [{ ...rule('mask', '/pci/', ['token:create']), description: 'd' }],
  expires_at: '2099-01-01T00:00:00.000Z',
  allowed_origins: ['https://shop.example.com', 'http://localhost:3000'],
};
const proxy = {
  name: 'P',
  destination_url: 'https://bank.example.com/v1?a=1',
  match: { hosts: ['bank.example.com'], methods: ['POST'], paths: ['/v1'] },
  forward_to: 'request',
  request_transform: { code, runtime: 'node20' },
  response_transform: { code },
  request_transforms: [step, tokenizing],
  response_transforms: [step],
  configuration: { KEY: 'k' },
  require_auth: false,
  allowed_origins: ['https://shop.example.com'],
  detokenize: false,
  scrub: true,
  isolation: 'run',
  timeout_ms: 5_000,
  client_certificate: { certificate: cert, private_key: certKey },
  certificate_authority: authority.ca,
};
const token = {
  id: 'sent-back',
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2099 },
  mask: { number: '{{ data.number | last4 }}', deep: { month: '{{ data.expiration_month }}' } },
  containers: ['/pci/low/'],
  metadata: { a: 'b' },
  destinations: ['bank.example.com/v1'],
  search_indexes: ['{{ data.number | last4 }}'],
  fingerprint_expression: '{{ data.number }}',
  deduplicate_token: false,
  expires_at: '2099-01-01T00:00:00.000Z',
};

interface Case {
  readonly dto: Dto;
  /** Has every member of the DTO. Members with two names have the first. */
  readonly document: () => Promise<object>;
  readonly path: (document: object) => Promise<string>;
}

const createdAt =
  (path: string) =>
  async (document: object): Promise<string> =>
    `${path}/${(await api.made(path, document)).id}`;
const acting = async (): Promise<{ readonly application: object }> => {
  const { id } = await api.made('/applications', { ...application, expires_at: null });
  return { application: { id } };
};

const cases: Readonly<Record<string, Case>> = {
  tenants: {
    dto: UpdateTenant,
    document: () => Promise.resolve({ name: 'T', settings: { a: 'b' } }),
    path: async (document) => {
      expect((await api.put('/tenants/self', document)).status).toBe(200);
      return '/tenants/self';
    },
  },
  applications: {
    dto: UpdateApplication,
    document: () => Promise.resolve({ ...application, slug: 'sent-back' }),
    path: createdAt('/applications'),
  },
  'reactor-formulas': {
    dto: FormulaInput,
    document: () => Promise.resolve({ ...formula, slug: 'sent-back' }),
    path: createdAt('/reactor-formulas'),
  },
  'reactor-formulas of uploaded code': {
    dto: FormulaInput,
    document: async () => {
      const { code: text, ...rest } = formula;
      const sha256 = codeHash(text);
      await api.put(`/code/${sha256}`, { code: text });
      return { ...rest, slug: 'sent-back-uploaded', code_sha256: sha256 };
    },
    path: createdAt('/reactor-formulas'),
  },
  reactors: {
    dto: CreateReactor,
    document: async () => ({
      name: 'R',
      slug: 'sent-back',
      configuration: { KEY: 'k', LIMIT: 10 },
      formula: await api.made('/reactor-formulas', formula),
      ...(await acting()),
      isolation: 'run',
    }),
    path: createdAt('/reactors'),
  },
  proxies: {
    dto: ProxyInput,
    document: async () => ({ ...proxy, slug: 'sent-back', ...(await acting()) }),
    path: createdAt('/proxies'),
  },
};

/** All that is stored of a resource, but for the time and the author of its last change. */
async function stateOf(path: string): Promise<unknown> {
  const [, kind, id = ''] = path.split('/');
  const kinds = { 'reactor-formulas': 'formula', proxies: 'proxy' } as const;
  const definition = await api.ctx.definitions.follower.current();
  const found = definition.find(
    kinds[kind as keyof typeof kinds] ?? (kind?.slice(0, -1) as 'tenant'),
    api.tenant.tenant_id,
    id === 'self' ? api.tenant.tenant_id : id,
  );
  expect(found).toBeDefined();
  const {
    modified_by: _,
    modified_at: __,
    ...shown
  } = (await api.get(path)).body as Record<string, unknown>;
  return { found, shown };
}

describe.each(Object.entries(cases))('GET of %s with all members', (name, { dto, ...of }) => {
  let path: string;
  let before: unknown;
  let got: object;

  beforeAll(async () => {
    const document = await of.document();
    const missing = membersOf(dto).filter(({ name: one }) => !Object.hasOwn(document, one));
    // Each has a second name or another form.
    const others = Object.hasOwn(document, 'code') ? ['code_sha256'] : ['code'];
    expect(['application_id', ...others]).toEqual(
      expect.arrayContaining(missing.map((member) => member.name)),
    );
    path = await of.path(document);
    before = await stateOf(path);
    got = (await api.get(path)).body as object;
  });

  it('can be sent back by PUT, and changes nothing', async () => {
    const put = await api.put(path, got).set('SVC-STRICT', 'true');
    expect([put.status, put.text]).toEqual([200, put.text]);
    expect(await stateOf(path)).toEqual(before);
    const again = await api.put(path, put.body);
    expect([again.status, again.text]).toEqual([200, again.text]);
    expect(await stateOf(path)).toEqual(before);
  });

  if (name === 'tenants') return;

  it('can be sent back by PATCH, and changes nothing', async () => {
    const patched = await api.patch(path, got).set('SVC-STRICT', 'true');
    expect([patched.status, patched.text]).toEqual([204, '']);
    expect(await stateOf(path)).toEqual(before);
  });
});

describe('GET of a token with all members', () => {
  it.each(['reveal', 'mask', 'redact'])(
    'that a rule would %s can be sent back by PATCH, and changes nothing',
    async (transform) => {
      const id = `sent-back-${transform}`;
      const document = { ...token, id };
      expect(Object.keys(document).sort()).toEqual(
        membersOf(CreateToken)
          .map(({ name }) => name)
          .sort(),
      );
      await api.made('/tokens', document, api.tenant.private_key);
      const all = ['token:read', 'token:update'];
      const key = await api.keyWith('private', ['token:use'], [rule(transform, '/', all)]);
      const auditor = await api.keyWith('private', [], [rule('reveal', '/', all)]);
      const stateOfToken = async (): Promise<unknown> => {
        const {
          modified_by: _,
          modified_at: __,
          ...shown
        } = (await api.get(`/tokens/${id}`, auditor)).body as Record<string, unknown>;
        const [row] = await api.admin.query(
          'SELECT fingerprint, container FROM tokens WHERE id = $1',
          [id],
        );
        return { shown, row };
      };
      const before = await stateOfToken();
      const got = await api.get(`/tokens/${id}`, key);
      const patched = await api.patch(`/tokens/${id}`, got.body, key).set('SVC-STRICT', 'true');
      expect([patched.status, patched.text]).toEqual([200, patched.text]);
      expect(await stateOfToken()).toEqual(before);
    },
  );
});

describe('the application of a reactor or proxy', () => {
  const formulaId = async (): Promise<string> =>
    (await api.made('/reactor-formulas', { name: 'f', code })).id;
  const documents: Readonly<Record<string, () => Promise<object>>> = {
    '/proxies': () => Promise.resolve({ name: 'p', destination_url: 'https://a.example' }),
    '/reactors': async () => ({
      name: 'r',
      configuration: {},
      formula: { id: await formulaId() },
    }),
  };
  const different = { application_id: ['must be left out or the same as application.id'] };
  let one: string;
  let other: string;
  beforeAll(async () => {
    [one, other] = (await Promise.all(
      [1, 2].map(async () => (await api.made('/applications', application)).id),
    )) as [string, string];
  });

  describe.each(Object.entries(documents))('of %s', (list, document) => {
    const idOf = (body: unknown): unknown => (body as { application_id?: string }).application_id;

    it('is answered as application_id by create, get, list, PUT and after a PATCH', async () => {
      const made = await api.made<{ id: string }>(list, {
        ...(await document()),
        application: { id: one },
      });
      const path = `${list}/${made.id}`;
      const got = await api.get(path);
      const { data } = (await api.get(`${list}?id=${made.id}`)).body as { data: unknown[] };
      expect([made, got.body, data[0]].map(idOf)).toEqual([one, one, one]);
      expect(idOf((await api.put(path, { ...got.body, application_id: other })).body)).toBe(other);
      expect((await api.patch(path, { application_id: one.toUpperCase() })).status).toBe(204);
      expect(idOf((await api.get(path)).body)).toBe(one);
    });

    it.each<[string, (ids: { one: string; other: string }) => object, (one: string) => unknown]>([
      ['application_id alone', ({ one }) => ({ application_id: one }), (one) => one],
      [
        'both names of the same one',
        ({ one }) => ({ application: { id: one }, application_id: one.toUpperCase() }),
        (one) => one,
      ],
      ['application.id that is null', () => ({ application: { id: null } }), () => undefined],
      ['an empty application', () => ({ application: {} }), () => undefined],
      [
        'null under one name',
        ({ one }) => ({ application: { id: null }, application_id: one }),
        (one) => one,
      ],
    ])('is taken from %s in POST and PUT', async (_, given, expected) => {
      const full = { ...(await document()), ...given({ one, other }) };
      const made = await api.made(list, full);
      expect(idOf(made)).toBe(expected(one));
      const put = await api.put(`${list}/${made.id}`, full);
      expect([put.status, idOf(put.body)]).toEqual([200, expected(one)]);
    });

    it('is refused with 400 if both names differ', async () => {
      const full = { ...(await document()), application: { id: one }, application_id: other };
      const refused = await api.post(list, full);
      expect([refused.status, (refused.body as { errors: object }).errors]).toEqual([
        400,
        different,
      ]);
    });

    it.each<[object, (ids: { one: string; other: string }) => unknown]>([
      [{ application: {} }, ({ one }) => one],
      [{ application: { id: null } }, () => undefined],
      [{ application: null }, () => undefined],
      [{ application_id: null }, () => undefined],
      [{ application: null, application_id: null }, () => undefined],
      [{ application: { id: 'OTHER' } }, ({ other }) => other],
      [{ application_id: 'OTHER' }, ({ other }) => other],
      [{ application: { id: 'OTHER' }, application_id: 'OTHER' }, ({ other }) => other],
      [{ application: null, application_id: 'OTHER' }, () => different],
      [{ application: {}, application_id: 'OTHER' }, () => different],
      [{ application: { id: 'OTHER' }, application_id: null }, () => different],
    ])('is what a PATCH of %j says', async (patch, expected) => {
      const made = await api.made(list, { ...(await document()), application_id: one });
      const path = `${list}/${made.id}`;
      const answer = await api.patch(path, JSON.stringify(patch).replaceAll('OTHER', other));
      const errors = (answer.body as { errors?: object }).errors;
      const now = idOf((await api.get(path)).body);
      expect(answer.status === 400 ? errors : now).toEqual(expected({ one, other }));
      expect(answer.status === 400 ? now : one).toBe(one);
    });
  });
});
