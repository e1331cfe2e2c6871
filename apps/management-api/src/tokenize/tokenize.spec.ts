import { randomUUID } from 'node:crypto';
import { rule, useTestApi } from '../spec-api';

const api = useTestApi();

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
const masked = { ...card, number: 'XXXXXXXXXXXX4242' };
const text = expect.any(String) as string;
const tokenize = (document: unknown, key = api.tenant.private_key) =>
  api.post('/tokenize', JSON.stringify(document), key);
const detokenize = (document: unknown, key: string) =>
  api.post('/detokenize', JSON.stringify(document), key);
const revealing = () => api.keyWith('private', [], [rule('reveal')]);

const stored = (token: object): Promise<string> => api.storedToken(token);

async function countTokens(): Promise<number> {
  const [row] = await api.admin.query<{ n: number }>('SELECT count(*)::int AS n FROM tokens');
  return row?.n ?? 0;
}

describe('POST /tokenize', () => {
  it('turns values into ids and typed objects into tokens, and keeps null and the shape', async () => {
    const answer = await tokenize({
      name: 'Ada\u0000',
      age: 36,
      vip: false,
      nothing: null,
      cards: [{ type: 'card', data: card, metadata: { a: 'b' }, containers: ['/mine/'] }, null],
      other: { type: 'unknown', data: 'x' },
      empty: [{}, []],
    });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        name: text,
        age: text,
        vip: text,
        nothing: null,
        cards: [
          {
            id: text,
            tenant_id: api.tenant.tenant_id,
            type: 'card',
            data: masked,
            containers: ['/mine/'],
            metadata: { a: 'b' },
            fingerprint: text,
            created_by: text,
            created_at: text,
          },
          null,
        ],
        other: { type: text, data: text },
        empty: [{}, []],
      },
    ]);
    const { name, age, vip, other } = answer.body as Record<string, string> & {
      other: { data: string };
    };
    const back = await detokenize(
      { name: `{{ ${name} }}`, age: `{{${age}}}`, vip: `{{ ${vip} }}`, x: `<{{ ${other.data} }}>` },
      await revealing(),
    );
    expect(back.body).toEqual({ name: 'Ada\u0000', age: 36, vip: false, x: '<x>' });
  });

  it.each([
    ['a string', '"x"'],
    ['a number', '12.50'],
    ['true', 'true'],
    ['a list', '[1]'],
  ])('accepts a document that is %s', async (_, document) => {
    const answer = await api.post('/tokenize', document, api.tenant.private_key);
    expect(answer.status).toBe(201);
    const [id] = [answer.body].flat() as [string];
    const back = await detokenize(`{{ ${id} }}`, await revealing());
    expect(back.body).toEqual([JSON.parse(document)].flat()[0]);
  });

  it('keeps null and stores nothing for it', async () => {
    const before = await countTokens();
    const answer = await tokenize(null);
    expect([answer.status, answer.text]).toEqual([201, 'null']);
    expect(await countTokens()).toBe(before);
  });

  it('accepts 1,000 values, and refuses 1,001 with 400 without storing any', async () => {
    const values = Array.from({ length: 1_000 }, (_, n) => n);
    const answer = await tokenize(values);
    expect([answer.status, new Set(answer.body as string[]).size]).toEqual([201, 1_000]);
    const before = await countTokens();
    expect((await tokenize([...values, 1])).status).toBe(400);
    expect(await countTokens()).toBe(before);
  });

  it('makes one token of equal data if asked to deduplicate', async () => {
    const token = { type: 'token', data: randomUUID(), deduplicate_token: true };
    const { body } = await tokenize([token, token]);
    const [first, second] = body as { id: string }[];
    expect(second?.id).toBe(first?.id);
    const again = await tokenize([token, { ...token, data: randomUUID() }]);
    const [third, fourth] = again.body as { id: string }[];
    expect([third?.id, fourth?.id === first?.id]).toEqual([first?.id, false]);
  });

  it('does not deadlock when concurrent documents have the same tokens in another order', async () => {
    const tokens = Array.from({ length: 40 }, () => ({
      type: 'token',
      data: randomUUID(),
      deduplicate_token: true,
    }));
    const answers = await Promise.all(
      [tokens, tokens.toReversed(), tokens].map((all) => tokenize(all)),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const ids = answers.flatMap(({ body }) => (body as { id: string }[]).map(({ id }) => id));
    expect(new Set(ids).size).toBe(tokens.length);
  });

  it('stores all tokens or none: 400, 403 and 409 name the path in the document', async () => {
    const before = await countTokens();
    const wrong = await tokenize({ a: 'x', list: [{ type: 'card', data: { number: '1' } }] });
    expect([wrong.status, wrong.body.errors]).toEqual([400, { 'list.0.data.number': [text] }]);
    const pci = await api.keyWith('private', [], [rule('mask', '/pci/', ['token:create'])]);
    expect((await tokenize([{ type: 'card', data: card }, 'x'], pci)).status).toBe(403);
    const same = { type: 'token', data: 1, id: `same-${randomUUID()}` };
    expect((await tokenize([1, same, same])).status).toBe(409);
    expect((await api.post('/tokenize', '{"a":1,"a":2}', api.tenant.private_key)).status).toBe(400);
    const digits = await api.post('/tokenize', '[12345678901234567890]', api.tenant.private_key);
    expect(digits.status).toBe(400);
    expect(await countTokens()).toBe(before);
  });

  it('answers 401, 403, 413 and 415', async () => {
    expect((await tokenize('x', 'nobody')).status).toBe(401);
    expect((await tokenize('x', await revealing())).status).toBe(403);
    expect((await tokenize('x'.repeat(10 * 1024 * 1024))).status).toBe(413);
    const typed = tokenize('x').set('Content-Type', 'text/plain');
    expect((await typed).status).toBe(415);
  });

  it('runs once under an idempotency key, and seals its outcome', async () => {
    const key = randomUUID();
    const before = await countTokens();
    const first = await tokenize({ a: 'sesame' }).set('SVC-IDEMPOTENCY-KEY', key);
    const second = await tokenize({ a: 'sesame' }).set('SVC-IDEMPOTENCY-KEY', key);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers['svc-idempotent-replay']).toBe('true');
    expect(await countTokens()).toBe(before + 1);
    const [row] = await api.admin.query<{ text: string }>(
      `SELECT encode(response, 'escape') AS text FROM idempotency_keys ORDER BY created_at DESC`,
    );
    expect(row?.text).not.toContain((first.body as { a: string }).a);
  });
});

it('a document of more than 100,000 values is refused with 400 at once', async () => {
  const key = await revealing();
  const list = (length: number): string => `[${Array<string>(length).fill('[]').join(',')}]`;
  for (const [path, caller] of [
    ['/tokenize', api.tenant.private_key],
    ['/detokenize', key],
  ] as const) {
    expect((await api.post(path, list(99_999), caller)).status).toBeLessThan(300);
    const refused = await api.post(path, list(100_000), caller);
    expect([path, refused.status, refused.text.includes('100000 values')]).toEqual([
      path,
      400,
      true,
    ]);
  }
});

it('bodies of 10 MiB of values are refused at little cost', async () => {
  const ones = `[${'1,'.repeat(5_000_000)}1]`;
  const before = process.cpuUsage();
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => api.post('/tokenize', ones, api.tenant.private_key).then()),
  );
  const { user } = process.cpuUsage(before);
  for (const { status, text: answer } of answers) {
    expect([status, answer.includes('more than 100000 values')]).toEqual([400, true]);
  }
  // Includes the processor time of the caller. Checking and building each value took 4 s.
  expect(user / 1_000).toBeLessThan(4_000);
});

describe('POST /detokenize', () => {
  it('answers 200 with what the transform of token:read shows, in its JSON type', async () => {
    const id = await stored({ type: 'card', data: card });
    const document = {
      card: `{{ ${id} }}`,
      text: `ends on {{ ${id} | json: '$.number' | last4 }}!`,
      kept: ['{{', 1, null, { a: true }],
    };
    const revealed = await detokenize(document, await revealing());
    expect([revealed.status, revealed.body]).toEqual([
      200,
      { ...document, card, text: 'ends on 4242!' },
    ]);
    const plain = await detokenize(document, api.tenant.private_key);
    expect(plain.body).toEqual({ ...document, card: masked, text: 'ends on 4242!' });
  });

  it('answers 403 under redact, without a mask or without a grant, and then shows nothing at all', async () => {
    const [general, pci] = [await stored({ data: 1 }), await stored({ type: 'card', data: card })];
    const both = { a: `{{ ${pci} }}`, b: `{{ ${general} }}` };
    const redacted = await api.keyWith('private', [], [rule('redact')]);
    const onlyPci = await api.keyWith('private', [], [rule('reveal', '/pci/')]);
    for (const key of [redacted, onlyPci, api.tenant.private_key]) {
      const refused = await detokenize(both, key);
      expect([refused.status, refused.text.includes('4242')]).toEqual([403, false]);
    }
    expect((await detokenize({ a: both.a }, onlyPci)).status).toBe(200);
  });

  it('answers unknown, foreign and deleted ids with the same 400', async () => {
    const key = await revealing();
    const id = await stored({ data: 'x' });
    const foreign = await api.keyWith('private', ['token:read']);
    expect((await detokenize(`{{ ${id} }}`, foreign)).status).toBe(403);
    const other = api.foreign.private_key;
    const [unknown, elsewhere] = [
      await detokenize(`{{ ${randomUUID()} }}`, other),
      await detokenize(`{{ ${id} }}`, other),
    ];
    expect([unknown.status, unknown.body.code]).toEqual([400, 'unknown_token']);
    expect(elsewhere.body).toEqual({ ...unknown.body, detail: `Not found: ${id}.` });
    expect((await detokenize('{{ a b }}', key)).body).toMatchObject({ code: 'invalid_expression' });
  });

  it('accepts 100 tokens and 1,000 expressions, and refuses one more of either with 400', async () => {
    const { body } = await tokenize(Array.from({ length: 101 }, (_, n) => n));
    const expressions = (body as string[]).map((id) => `{{ ${id} }}`);
    const key = await revealing();
    const hundred = await detokenize(expressions.slice(0, 100), key);
    expect([hundred.status, (hundred.body as number[])[99]]).toEqual([200, 99]);
    expect((await detokenize(expressions, key)).status).toBe(400);
    const thousand = Array<string>(1_000).fill(expressions[0] ?? '');
    expect((await detokenize(thousand, key)).status).toBe(200);
    expect((await detokenize([...thousand, expressions[0]], key)).status).toBe(400);
  });

  it('answers 401, 403, 413 and 415', async () => {
    const key = await revealing();
    expect((await detokenize('x', 'nobody')).status).toBe(401);
    expect((await detokenize('x', await api.keyWith('private', ['token:use']))).status).toBe(403);
    expect((await detokenize('x'.repeat(10 * 1024 * 1024), key)).status).toBe(413);
    const id = await stored({ data: 'x'.repeat(1024 * 1024 - 10) });
    expect((await detokenize(Array(11).fill(`{{ ${id} }}`), key)).status).toBe(413);
    expect((await detokenize('x', key).set('Content-Type', 'text/xml')).status).toBe(415);
  });

  it('is recorded with the ids, allowed or refused, and without values', async () => {
    const id = await stored({ data: 'sesame' });
    const linesOf = async (key: string): Promise<object[]> => {
      await detokenize(`{{ ${id} }}`, key);
      const { body } = await api.get('/logs?operation=token.detokenize&size=1');
      return (body as { data: object[] }).data;
    };
    const line = { entity_type: 'tenant', entity_id: api.tenant.tenant_id, token_ids: [id] };
    const allowed = await linesOf(await revealing());
    expect(allowed).toMatchObject([{ ...line, outcome: 'success' }]);
    const redacted = await api.keyWith('private', [], [rule('redact')]);
    expect(await linesOf(redacted)).toMatchObject([{ ...line, outcome: 'refused' }]);
    expect(JSON.stringify(allowed)).not.toContain('sesame');
  });
});
