import { randomUUID } from 'node:crypto';
import type { Principal } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { OpeningBudget, type TokenInput, type TokenView, type Use } from '../index';
import { useSpecVault } from '../spec-vault';
import { Reach } from '../reach';

const mebibyte = 1024 * 1024;
/** With 1 MiB of data each: sealed, all together are more than 10 MiB. */
let large: string[];
/** With 100,000 values each. */
let intricate: string[];

const caller: Principal = {
  actorId: randomUUID(),
  tenantId: randomUUID(),
  type: 'private',
  permissions: ['token:create', 'token:update', 'token:use'],
  rules: [
    {
      description: '',
      priority: 1,
      container: '/',
      transform: 'reveal',
      permissions: ['token:read', 'token:search'],
    },
  ],
};
const actor = { principal: caller, traceId: 'trace' };
const newUse = (): Use => ({
  tenantId: caller.tenantId,
  actorId: caller.actorId,
  operation: 'proxy.invoke',
  entityType: 'proxy',
  entityId: randomUUID(),
  traceId: randomUUID(),
});

const listOf = (values: number): unknown => Array.from({ length: values - 1 }, () => []);
const create = (input: TokenInput): Promise<string> =>
  spec.data
    .transaction((sql) => spec.vault.createToken(sql, actor, input))
    .then(({ view }) => view.id);
const linesOf = (use: Use): Promise<object[]> =>
  spec.admin.query<object>(
    'SELECT outcome, cardinality(token_ids) AS tokens FROM audit_log WHERE entity_id = $1',
    [use.entityId],
  );
const tooLarge = (limit: RegExp): object => ({
  code: 'payload_too_large',
  message: expect.stringMatching(limit) as unknown,
});

const spec = useSpecVault();

beforeAll(async () => {
  const text = 'x'.repeat(mebibyte - 2);
  large = [];
  for (let n = 0; n < 10; n += 1) {
    large.push(await create({ data: text, metadata: { kind: 'large' } }));
  }
  intricate = [];
  for (let n = 0; n < 3; n += 1) {
    intricate.push(await create({ data: listOf(100_000), metadata: { kind: 'intricate' } }));
  }
});

describe('one request', () => {
  it('opens at most 10 MiB of tokens in all, and a refusal is recorded', async () => {
    const use = newUse();
    const refused = spec.vault.detokenize(caller, use, large, new Reach());
    await expect(refused).rejects.toMatchObject(tooLarge(/10485760 bytes/));
    expect(await linesOf(use)).toEqual([{ outcome: 'refused', tokens: 10 }]);
    expect((await spec.vault.detokenize(caller, newUse(), large.slice(1), new Reach())).size).toBe(
      9,
    );
  });

  it('waits for a place to open much, one per tenant at a time, and is recorded once', async () => {
    const release = await spec.vault.largeOpenings.shares.take(caller.tenantId);
    const small = await create({ data: 1 });
    const use = newUse();
    const waiting = spec.vault.detokenize(caller, use, large.slice(1), new Reach());
    await waitFor(() => spec.vault.largeOpenings.shares.state.waiting === 1);
    expect(await linesOf(use)).toEqual([]);
    expect((await spec.vault.detokenize(caller, newUse(), [small], new Reach())).get(small)).toBe(
      1,
    );
    release();
    expect((await waiting).size).toBe(9);
    expect(await linesOf(use)).toEqual([{ outcome: 'success', tokens: 9 }]);
    await waitFor(() => spec.vault.largeOpenings.shares.state.held === 0);
    expect(spec.vault.largeOpenings.shares.state.waiting).toBe(0);
  });

  it('opens at most 10 MiB over all its look-ups together', async () => {
    const opening = new OpeningBudget();
    const look = (ids: string[]) =>
      spec.vault.detokenize(caller, newUse(), ids, new Reach(), opening);
    await look(large.slice(0, 5));
    await look(large.slice(5, 9));
    await expect(look(large.slice(9))).rejects.toMatchObject(tooLarge(/10485760 bytes/));
  });

  it('opens tokens of at most 200,000 values in all', async () => {
    const opened = await spec.vault.detokenize(caller, newUse(), intricate.slice(1), new Reach());
    const written = JSON.stringify(listOf(100_000));
    expect([...opened.values()].map((value) => JSON.stringify(value) === written)).toEqual([
      true,
      true,
    ]);
    const refused = spec.vault.detokenize(caller, newUse(), intricate, new Reach());
    await expect(refused).rejects.toMatchObject(tooLarge(/200000 values/));
  });

  it('parses none of its tokens if together they hold too many values', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    await expect(spec.vault.detokenize(caller, newUse(), intricate, new Reach())).rejects.toThrow();
    const parsed = parse.mock.calls.filter(([text]) => text.startsWith('[[]'));
    parse.mockRestore();
    expect(parsed).toEqual([]);
  });

  it('counts values, and ignores text that looks like values', async () => {
    const text = await create({ data: ['[{},[],"\\",1,2', ...Array<string>(40_000).fill(',[{')] });
    const ids = [...intricate.slice(1), text];
    await expect(spec.vault.detokenize(caller, newUse(), ids, new Reach())).rejects.toMatchObject(
      tooLarge(/200000 values/),
    );
    const opened = await spec.vault.detokenize(
      caller,
      newUse(),
      [intricate[0] ?? '', text],
      new Reach(),
    );
    expect(opened.size).toBe(2);
  });

  it('fills in no document with tokens beyond these limits', async () => {
    const document = (ids: string[]) => ids.map((id) => `{{ ${id} | json: '$[0]' }}`);
    await expect(spec.vault.resolve(actor, document(intricate))).rejects.toMatchObject(
      tooLarge(/200000 values/),
    );
    await expect(spec.vault.resolve(actor, document(large))).rejects.toMatchObject(
      tooLarge(/10485760 bytes/),
    );
  });

  it.each(['large', 'intricate'])(
    'refuses a page of tokens that are too %s together, opens none of them, and shows a smaller page',
    async (kind) => {
      const list = (size: number) =>
        spec.vault.listTokens(spec.data, actor, { metadata: { kind } }, { page: 1, size });
      await expect(list(100)).rejects.toMatchObject({ code: 'payload_too_large' });
      expect((await list(2)).tokens).toHaveLength(2);
      const page = { page: 1, size: 100 };
      const { parts } = await spec.vault.findSearched(
        spec.data,
        actor,
        `metadata.kind:${kind}`,
        page,
      );
      await expect(parts.all(spec.data)).rejects.toMatchObject({ code: 'payload_too_large' });
    },
  );

  it('records a page of too many bytes once, as refused, with its ids', async () => {
    const traceId = randomUUID();
    const page = { page: 1, size: 100 };
    const list = spec.vault.listTokens(spec.data, { ...actor, traceId }, { ids: large }, page);
    await expect(list).rejects.toMatchObject(tooLarge(/10485760 bytes/));
    const lines = await spec.admin.query<object>(
      'SELECT outcome, cardinality(token_ids) AS tokens FROM audit_log WHERE trace_id = $1',
      [traceId],
    );
    expect(lines).toEqual([{ outcome: 'refused', tokens: 10 }]);
  });
});

describe('a page', () => {
  it('waits for a place if it opens much, one per tenant at a time, and is recorded once', async () => {
    const release = await spec.vault.largeOpenings.shares.take(caller.tenantId);
    const traceId = randomUUID();
    const lines = () =>
      spec.admin.query<object>(
        'SELECT outcome, cardinality(token_ids) AS tokens FROM audit_log WHERE trace_id = $1',
        [traceId],
      );
    const page = { page: 1, size: 9 };
    const waiting = spec.vault.listTokens(spec.data, { ...actor, traceId }, { ids: large }, page);
    await waitFor(() => spec.vault.largeOpenings.shares.state.waiting === 1);
    expect(await lines()).toEqual([]);
    release();
    const lengths = (await waiting).tokens.map((token) => String(token.data).length);
    expect(lengths).toEqual(Array(9).fill(mebibyte - 2));
    expect(await lines()).toEqual([{ outcome: 'success', tokens: 9 }]);
    await waitFor(() => spec.vault.largeOpenings.shares.state.held === 0);
    expect(spec.vault.largeOpenings.shares.state.waiting).toBe(0);
  });

  it('comes part by part, and in smaller parts where its tokens have grown since they were found', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await create({ data: 'x'.repeat(100_000) }));
    const looker = { ...actor, traceId: randomUUID() };
    const { parts } = await spec.vault.findListed(spec.data, looker, { ids }, { page: 1, size: 6 });
    const lengthsOf = async (tokens: AsyncIterable<TokenView>): Promise<number[]> => {
      const lengths: number[] = [];
      for await (const token of tokens) lengths.push(String(token.data).length);
      return lengths;
    };
    expect(await parts.whenSmall(spec.data, lengthsOf)).toBeUndefined();
    const newest = [...ids].reverse();
    for (const id of newest.slice(1, 3)) {
      await spec.data.transaction((sql) =>
        spec.vault.updateToken(sql, actor, id, { data: 'x'.repeat(400_000) }),
      );
    }
    const shown: number[][] = [];
    for await (const lengths of parts.inParts(spec.data, lengthsOf)) shown.push(lengths);
    expect(shown).toEqual([[100_000, 400_000], [400_000, 100_000], [100_000], [100_000]]);
    const lines = await spec.admin.query<{ tokens: number; outcome: string }>(
      'SELECT outcome, cardinality(token_ids) AS tokens FROM audit_log WHERE trace_id = $1 ORDER BY id',
      [looker.traceId],
    );
    expect(lines).toEqual(shown.map(({ length }) => ({ outcome: 'success', tokens: length })));
  });

  it('does not wait if it opens little, and is not counted if it is the last one', async () => {
    const ids = [await create({ data: 1 }), await create({ data: 2 })];
    const release = await spec.vault.largeOpenings.shares.take(caller.tenantId);
    const statements: string[] = [];
    const sql: Sql = {
      query: (statement, values) => {
        statements.push(String(statement));
        return spec.data.query(statement, values);
      },
    };
    const list = (page: number, size: number) =>
      spec.vault.listTokens(sql, actor, { ids }, { page, size });
    const counts = () => statements.filter((text) => text.includes('count(*)::int')).length;
    const pagination = { total_items: 2 };
    expect(await list(1, 3)).toMatchObject({ pagination, tokens: [{ data: 2 }, { data: 1 }] });
    expect(await list(2, 1)).toMatchObject({ pagination, tokens: [{ data: 1 }] });
    expect(counts()).toBe(0);
    expect(await list(3, 1)).toMatchObject({ pagination, tokens: [] });
    expect(counts()).toBe(1);
    release();
  });
});

describe('a token', () => {
  const tooMany = listOf(100_001);
  const refusedFor = (member: string): object => ({
    status: 400,
    errors: { [member]: [expect.stringMatching(/100000 values/)] },
  });

  it('holds at most 100,000 values of data and of a mask, however it is created', async () => {
    await expect(create({ data: tooMany })).rejects.toMatchObject(refusedFor('data'));
    await expect(create({ data: 1, mask: tooMany })).rejects.toMatchObject(refusedFor('mask'));
    const within = { a: { type: 'token', data: tooMany } };
    const tokenized = spec.data.transaction((sql) => spec.vault.tokenize(sql, actor, within));
    await expect(tokenized).rejects.toMatchObject({ status: 400 });
  });

  it('holds at most 100,000 values after a patch', async () => {
    const id = await create({ data: { a: listOf(60_000) } });
    const patch = (changes: object) =>
      spec.data.transaction((sql) => spec.vault.updateToken(sql, actor, id, changes));
    const more = patch({ data: { b: listOf(60_000) } });
    await expect(more).rejects.toMatchObject(refusedFor('data'));
    await expect(patch({ mask: tooMany })).rejects.toMatchObject({ status: 400 });
  });

  it('has a mask of at most 100,000 values after expressions are filled in', async () => {
    const made = create({ data: listOf(60_000), mask: ['{{ data }}', '{{ data }}'] });
    await expect(made).rejects.toMatchObject(refusedFor('mask'));
  });

  it('has expressions of at most 4,096 characters', async () => {
    const long = `{{ data }}${'x'.repeat(4_087)}`;
    await expect(create({ data: 1, searchIndexes: [long] })).rejects.toMatchObject({
      errors: { search_indexes: [expect.any(String)] },
    });
    await expect(create({ data: 1, fingerprintExpression: long })).rejects.toMatchObject({
      errors: { fingerprint_expression: [expect.any(String)] },
    });
    await create({ data: 1, searchIndexes: [long.slice(1, -1), long.slice(0, -1)] });
  });
});
