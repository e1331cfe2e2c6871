import { randomUUID } from 'node:crypto';
import type { AccessRule, Permission, Principal } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import { enterTenant } from '@glovebox/testing';
import type { TokenInput, TokenView, Use } from './index';
import { useSpecVault } from './spec-vault';
import { placeOf } from './token';
import { Reach } from './reach';

const card = { number: '4242424242424242' };

const spec = useSpecVault();

function principal(
  permissions: Permission[],
  rules: Partial<AccessRule>[] = [],
  tenantId: string = randomUUID(),
): Principal {
  return {
    actorId: randomUUID(),
    tenantId,
    type: 'private',
    permissions,
    rules: rules.map((rule) => ({
      description: '',
      priority: 1,
      container: '/',
      transform: 'reveal' as const,
      permissions: ['token:read'] as const,
      ...rule,
    })),
  };
}

const all: Permission[] = ['token:create', 'token:read', 'token:use'];
const store = (who: Principal, input: TokenInput): Promise<TokenView> =>
  spec.management.transaction(async (sql) => {
    await enterTenant(sql, who.tenantId);
    return (await spec.vault.createToken(sql, { principal: who, traceId: 'trace' }, input)).view;
  });
const read = (who: Principal, id: string): Promise<TokenView> =>
  spec.vault.readToken(spec.data, { principal: who, traceId: 'trace' }, id);
const useBy = (who: Principal): Use => ({
  tenantId: who.tenantId,
  actorId: who.actorId,
  operation: 'proxy.invoke',
  entityType: 'proxy',
  entityId: randomUUID(),
  traceId: randomUUID(),
  destinationHost: 'example.com',
});

describe('a stored token', () => {
  it('is sealed in its row', async () => {
    const who = principal(all);
    const { id } = await store(who, { type: 'token', data: card });
    const [row] = await spec.admin.query<{ row: string }>(
      'SELECT t::text AS row FROM tokens t WHERE id = $1',
      [id],
    );
    expect(row?.row).toContain(id);
    expect(row?.row).not.toContain(card.number);
    expect(row?.row).not.toContain(Buffer.from(card.number).toString('hex'));
  });

  it.each<[string, unknown]>([
    ['an object', card],
    ['a string', 'a "b" \u0000 ü'],
    ['a number', 12.5],
    ['false', false],
    ['null', null],
    ['a list', [1, ['2', { three: null }]]],
  ])('gives back %s as it was', async (_, value) => {
    const who = principal(all);
    const { id } = await store(who, { data: value });
    expect((await spec.vault.detokenize(who, useBy(who), [id], new Reach())).get(id)).toEqual(
      value,
    );
  });

  it('is shown without data to a plain permission, and with data to a rule that reveals', async () => {
    const who = principal(all);
    const created = await store(who, { data: card });
    expect(created).not.toHaveProperty('data');
    expect(created).not.toHaveProperty('modifiedAt');
    const plain = await read(who, created.id);
    expect(plain).toEqual({
      ...created,
      modifiedBy: who.actorId,
      modifiedAt: created.createdAt,
    });
    const revealing = principal([], [{ container: '/general/' }], who.tenantId);
    expect(await read(revealing, created.id)).toEqual({ ...plain, data: card });
  });

  it('is unknown to another tenant', async () => {
    const { id } = await store(principal(all), { data: card });
    const other = principal(all);
    await expect(read(other, id)).rejects.toMatchObject({ status: 404 });
    await expect(
      spec.vault.detokenize(other, useBy(other), [id], new Reach()),
    ).rejects.toMatchObject({
      code: 'unknown_token',
    });
  });

  it('is gone once it has expired', async () => {
    const who = principal(all);
    const inAMoment = new Date(Date.now() + 60_000).toISOString();
    const { id } = await store(who, { data: card, expiresAt: inAMoment });
    await spec.admin.query(
      `UPDATE tokens SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
    await expect(read(who, id)).rejects.toMatchObject({ status: 404 });
    await expect(spec.vault.detokenize(who, useBy(who), [id], new Reach())).rejects.toMatchObject({
      status: 400,
    });
  });

  it('cannot have the id of another one', async () => {
    const who = principal(all);
    await store(who, { id: 'my-card', data: card });
    await expect(store(who, { id: 'my-card', data: 1 })).rejects.toMatchObject({ status: 409 });
  });

  it.each<[TokenInput, string]>([
    [{}, 'data'],
    [{ data: 1, type: 'nonsense' }, 'type'],
    [{ data: 1, type: '__proto__' }, 'type'],
    [{ data: 1, id: 'a b' }, 'id'],
    [{ data: 1, id: 'ab' }, 'id'],
    [{ data: 1, containers: ['/a/', '/b/'] }, 'containers'],
    [{ data: 1, containers: ['no slashes'] }, 'containers'],
    [{ data: 1, expiresAt: 'yesterday' }, 'expires_at'],
    [{ data: 1, fingerprintExpression: '' }, 'fingerprint_expression'],
    [{ data: 1, fingerprintExpression: '}} constant {{' }, 'fingerprint_expression'],
    [{ data: 'x'.repeat(1024 * 1024) }, 'data'],
  ])('is refused with the name of the wrong member: %#', async (input, member) => {
    await expect(store(principal(all), input)).rejects.toMatchObject({
      code: 'validation_failed',
      errors: { [member]: expect.any(Array) as unknown },
    });
  });
});

describe('a use of tokens', () => {
  it('reads the tokens and writes the record in one statement', async () => {
    const who = principal(all);
    const ids = [];
    for (const value of [1, 2, 3]) ids.push((await store(who, { data: value })).id);
    const use = useBy(who);
    const values = await spec.vault.detokenize(who, use, ids, new Reach());
    expect(ids.map((id) => values.get(id))).toEqual([1, 2, 3]);
    const lines = await spec.admin.query('SELECT * FROM audit_log WHERE trace_id = $1', [
      use.traceId,
    ]);
    expect(lines).toMatchObject([
      {
        tenant_id: who.tenantId,
        actor_id: who.actorId,
        operation: 'proxy.invoke',
        entity_id: use.entityId,
        outcome: 'success',
        token_ids: ids,
        destination_host: 'example.com',
      },
    ]);
  });

  it('is an outage if it cannot be recorded: no record, no data', async () => {
    const who = principal(all);
    const { id } = await store(who, { data: card });
    await spec.admin.query('REVOKE INSERT ON audit_log FROM glovebox_data');
    try {
      await expect(spec.vault.detokenize(who, useBy(who), [id], new Reach())).rejects.toMatchObject(
        {
          code: 'service_unavailable',
          status: 503,
        },
      );
    } finally {
      await spec.admin.query('GRANT INSERT ON audit_log TO glovebox_data');
    }
  });

  it('gives all tokens or none, and names the unknown ids', async () => {
    const who = principal(all);
    const { id } = await store(who, { data: card });
    const use = useBy(who);
    await expect(
      spec.vault.detokenize(who, use, [id, 'not-there'], new Reach()),
    ).rejects.toMatchObject({
      status: 400,
      detail: 'Not found: not-there.',
    });
    const [line] = await spec.admin.query<{ outcome: string }>(
      'SELECT outcome FROM audit_log WHERE trace_id = $1',
      [use.traceId],
    );
    expect(line?.outcome).toBe('refused');
  });

  it('needs a grant on every container', async () => {
    const owner = principal(all);
    const { id } = await store(owner, { data: 1 });
    const { id: pci } = await store(owner, { data: 2, containers: ['/PCI/High/'] });
    const general = principal(
      [],
      [{ container: '/general/', permissions: ['token:use'] }],
      owner.tenantId,
    );
    expect((await spec.vault.detokenize(general, useBy(general), [id], new Reach())).get(id)).toBe(
      1,
    );
    await expect(
      spec.vault.detokenize(general, useBy(general), [id, pci], new Reach()),
    ).rejects.toMatchObject({
      status: 403,
    });
  });

  it('gets the mask under a rule that says mask', async () => {
    const owner = principal(all);
    const { id } = await store(owner, { type: 'card', data: card });
    const who = principal([], [{ transform: 'mask', permissions: ['token:use'] }], owner.tenantId);
    const values = await spec.vault.detokenize(who, useBy(who), [id], new Reach());
    expect(values.get(id)).toEqual({ number: 'XXXXXXXXXXXX4242' });
  });

  it.each([
    ['redact', { type: 'card', data: card }, /redacts one/],
    ['mask', { data: 'without a mask' }, /has none/],
  ] as const)('is refused under a rule that says %s for %j', async (transform, token, detail) => {
    const owner = principal(all);
    const { id } = await store(owner, token);
    const { id: other } = await store(owner, { data: 1, containers: ['/free/'] });
    const rules = [
      { transform, priority: 2, permissions: ['token:use' as const] },
      { container: '/free/', permissions: ['token:use' as const] },
    ];
    const who = principal(['token:use'], rules, owner.tenantId);
    expect((await spec.vault.detokenize(who, useBy(who), [other], new Reach())).get(other)).toBe(1);
    await expect(
      spec.vault.detokenize(who, useBy(who), [other, id], new Reach()),
    ).rejects.toMatchObject({
      status: 403,
      detail: expect.stringMatching(detail) as unknown,
    });
  });
});

describe('a read of a token', () => {
  const readAs = (who: Principal, id: string, traceId: string): Promise<TokenView> =>
    spec.vault.readToken(spec.data, { principal: who, traceId }, id);
  const linesOf = (traceId: string): Promise<object[]> =>
    spec.admin.query<object>('SELECT * FROM audit_log WHERE trace_id = $1', [traceId]);

  it('is refused where no grant covers the token, and recorded once with its id', async () => {
    const owner = principal(all);
    const { id } = await store(owner, { data: card, mask: 'a mask', containers: ['/free/'] });
    const who = principal([], [{ container: '/general/' }], owner.tenantId);
    const traceId = randomUUID();
    await expect(readAs(who, id, traceId)).rejects.toMatchObject({
      status: 403,
      detail: 'The permission token:read is needed for the container /free/.',
    });
    const { tenantId, actorId } = who;
    expect(await linesOf(traceId)).toMatchObject([
      {
        tenant_id: tenantId,
        actor_id: actorId,
        operation: 'token.read',
        entity_type: 'token',
        entity_id: id,
        outcome: 'refused',
        token_ids: [id],
        destination_host: null,
      },
    ]);
  });

  it.each([
    ['reveal', 'success'],
    ['mask', undefined],
    ['redact', undefined],
  ] as const)('leaves under %s the outcome %s', async (transform, outcome) => {
    const owner = principal(all);
    const { id } = await store(owner, { type: 'card', data: card });
    const traceId = randomUUID();
    await readAs(principal([], [{ transform }], owner.tenantId), id, traceId);
    const lines = (await linesOf(traceId)) as { outcome: string; token_ids: string[] }[];
    const expected = outcome === undefined ? [] : [[outcome, [id]]];
    expect(lines.map((line) => [line.outcome, line.token_ids])).toEqual(expected);
  });

  it('leaves no line for an id that does not exist', async () => {
    const traceId = randomUUID();
    await expect(readAs(principal(all), 'not-there', traceId)).rejects.toMatchObject({
      status: 404,
    });
    expect(await linesOf(traceId)).toEqual([]);
  });

  it('is an outage if its refusal cannot be recorded', async () => {
    const owner = principal(all);
    const { id } = await store(owner, { data: card });
    const who = principal([], [{ container: '/free/' }], owner.tenantId);
    await spec.admin.query('REVOKE INSERT ON audit_log FROM glovebox_data');
    try {
      await expect(readAs(who, id, 'trace')).rejects.toMatchObject({ status: 503 });
    } finally {
      await spec.admin.query('GRANT INSERT ON audit_log TO glovebox_data');
    }
  });
});

describe('the largest token', () => {
  it('has 1 MiB of JSON, and is returned as it was', async () => {
    const who = principal(all);
    const value = `${'\u0000'.repeat(1_000)}${'x'.repeat(1024 * 1024 - 6_002)}`;
    expect(JSON.stringify(value)).toHaveLength(1024 * 1024);
    const { id } = await store(who, { data: value });
    const values = await spec.vault.detokenize(who, useBy(who), [id], new Reach());
    expect(values.get(id) === value).toBe(true);
    await expect(store(who, { data: `${value}x` })).rejects.toMatchObject({ status: 400 });
  });
});

describe('a row that was moved', () => {
  it('does not open at another tenant', async () => {
    const [owner, thief] = [principal(all), principal(all)];
    const { id } = await store(owner, { data: card });
    await store(thief, { data: 'has a key' });
    await spec.admin.query('UPDATE tokens SET tenant_id = $1 WHERE id = $2', [thief.tenantId, id]);
    await expect(spec.vault.detokenize(thief, useBy(thief), [id], new Reach())).rejects.toThrow(
      'could not be opened',
    );
  });

  it('does not open at another token', async () => {
    const who = principal(all);
    const { id: from } = await store(who, { data: card });
    const { id: to } = await store(who, { data: 'mine' });
    await spec.admin.query(
      `UPDATE tokens SET data = (SELECT data FROM tokens WHERE id = $1) WHERE id = $2`,
      [from, to],
    );
    await expect(spec.vault.detokenize(who, useBy(who), [to], new Reach())).rejects.toThrow(
      'could not be opened',
    );
  });
});

it('options keep their stored form, and those of older rows are read', async () => {
  const who = principal(all);
  const options = {
    mask: 'a mask',
    search_indexes: ['{{ data.number }}'],
    fingerprint_expression: '{{ data.number }}',
  };
  const shown = {
    mask: options.mask,
    searchIndexes: options.search_indexes,
    fingerprintExpression: options.fingerprint_expression,
  };
  const { id } = await store(who, { data: card, ...shown });
  const place = placeOf(who.tenantId, id, 'options');
  const [row] = await spec.admin.query<{ options: Buffer }>(
    'SELECT options FROM tokens WHERE id = $1',
    [id],
  );
  const opened = await spec.sealer.open(place, row?.options ?? Buffer.alloc(0));
  expect(opened.toString()).toBe(JSON.stringify(options));
  await spec.admin.query('UPDATE tokens SET options = $2 WHERE id = $1', [
    id,
    await spec.sealer.seal(place, JSON.stringify({ search_indexes: ['{{ data }}'] })),
  ]);
  const view = await read(who, id);
  expect(view).toMatchObject({ searchIndexes: ['{{ data }}'] });
  expect(view).not.toHaveProperty('fingerprintExpression');
});

describe('a value sealed in one column', () => {
  it.each([
    ['data = mask', 'reveal'],
    ['mask = data', 'mask'],
    ['mask = options', 'mask'],
  ] as const)('does not open in another: %s', async (change, transform) => {
    const owner = principal(all);
    const { id } = await store(owner, { data: 'open', mask: 'sesame' });
    const who = principal([], [{ transform, permissions: ['token:use'] }], owner.tenantId);
    await spec.admin.query(`UPDATE tokens SET ${change} WHERE id = $1`, [id]);
    await expect(spec.vault.detokenize(who, useBy(who), [id], new Reach())).rejects.toThrow(
      /opened/,
    );
  });
});

describe('tokenizing a document', () => {
  it('puts tokens in place of values', async () => {
    const who = principal(all);
    const document = { name: 'Ada', nothing: null, cards: [{ type: 'token', data: card }] };
    const actor = { principal: who, traceId: 'trace' };
    const tokenized = await spec.data.transaction((sql) =>
      spec.vault.tokenize(sql, actor, document),
    );
    const tokens = tokenized as {
      name: string;
      nothing: null;
      cards: TokenView[];
    };
    expect(tokens.nothing).toBeNull();
    const [first] = tokens.cards;
    const ids = [tokens.name, first?.id ?? ''];
    const values = await spec.vault.detokenize(who, useBy(who), ids, new Reach());
    expect([...values.values()]).toEqual(expect.arrayContaining(['Ada', card]));
    expect(first?.type).toBe('token');
  });

  it('stores all or nothing', async () => {
    const who = principal(all);
    const document = [1, { type: 'token', data: 2, id: 'no good id' }];
    await expect(
      spec.data.transaction((sql) =>
        spec.vault.tokenize(sql, { principal: who, traceId: 'trace' }, document),
      ),
    ).rejects.toMatchObject({ status: 400 });
    const rows = await spec.admin.query('SELECT 1 FROM tokens WHERE tenant_id = $1', [
      who.tenantId,
    ]);
    expect(rows).toEqual([]);
  });
});

it('a token is stored by two statements, and by a third if the caller chose its id', async () => {
  const who = principal(all);
  const create = (input: TokenInput): Promise<number> =>
    spec.data.transaction(async (sql) => {
      let statements = 0;
      const counted: Sql = {
        query: (statement, values) => {
          statements += 1;
          return sql.query(statement, values);
        },
      };
      await spec.vault.createToken(counted, { principal: who, traceId: 'trace' }, input);
      return statements;
    });
  expect([await create({ data: 1 }), await create({ data: 1, id: 'mine' })]).toEqual([2, 3]);
});
