import { randomUUID } from 'node:crypto';
import { call, create, reactorOf, runningProduct } from './product';

const product = runningProduct();
const echo = 'module.exports = async ({ args }) => ({ raw: args });';

type Parameters = Readonly<Record<string, string>>;

/** A reactor that returns its arguments. A type that ends in `?` is that of an optional one. */
const reactorWith = (parameters: Parameters): Promise<string> =>
  reactorOf(product, echo, {
    request_parameters: Object.entries(parameters).map(([name, type]) => ({
      name,
      type: type.replace('?', ''),
      optional: type.endsWith('?'),
    })),
  });

async function sent(reactorId: string, args: string) {
  const answer = await fetch(`${product.baseUrl}/reactors/${reactorId}/react`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': product.privateKey, 'Content-Type': 'application/json' },
    body: `{"args":${args}}`,
  });
  const { raw, errors, code } = (await answer.json()) as Record<string, unknown>;
  return answer.status === 200 ? raw : { status: answer.status, code, errors };
}

/** The arguments that the code of a formula with these parameters gets, or the refusal. */
async function seen(parameters: Parameters, args: object): Promise<unknown> {
  return sent(await reactorWith(parameters), JSON.stringify(args));
}

const refused = (errors: Readonly<Record<string, string>>) => ({
  status: 400,
  code: 'validation_failed',
  errors: Object.fromEntries(
    Object.entries(errors).map(([name, message]) => [`args.${name}`, [message]]),
  ),
});

async function tokenOf(data: unknown, type = 'token'): Promise<string> {
  const body = { type, data };
  return (await create(product, '/tokens', body, product.privateKey)).id;
}

const expressionOf = async (data: unknown, type?: string): Promise<string> =>
  `{{${await tokenOf(data, type)}}}`;

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };

describe('arguments', () => {
  it('A1: any may be supplied where the formula declares no parameters', async () => {
    const args = { any: [1, { thing: null }], Other: 'x', '': true };
    expect(await seen({}, args)).toEqual(args);
  });

  it('A1: may be any JSON, also numbers with more digits than a number has', async () => {
    const reactorId = await reactorWith({});
    expect(await sent(reactorId, '{"pi":3.141592653589793238,"big":12345678901234567890}')).toEqual(
      { pi: 3.141592653589793, big: 12345678901234567000 },
    );
  });

  it.each([
    ['duplicate members', '{"a":{"b":1,"b":2}}'],
    ['more than 64 levels', '['.repeat(70) + ']'.repeat(70)],
    ['no JSON', '{"a":01}'],
  ])('are refused with %s', async (_, args) => {
    expect(await sent(await reactorWith({}), args)).toMatchObject({
      status: 400,
      code: 'invalid_json',
    });
  });

  it('may have a member called __proto__, which is a member like any other', async () => {
    const reactorId = await reactorOf(
      product,
      `module.exports = ({ args }) => ({ raw: { own: Object.keys(args), x: String(args.x) } });`,
    );
    expect(await sent(reactorId, '{"__proto__":{"x":1}}')).toEqual({
      own: ['__proto__'],
      x: 'undefined',
    });
  });

  it('A2: match a declared name exactly, upper and lower case included', async () => {
    expect(await seen({ Amount: 'number' }, { amount: 1 })).toEqual(
      refused({ Amount: 'is required' }),
    );
    expect(await seen({ Amount: 'number' }, { Amount: '1', amount: 'x' })).toEqual({ Amount: 1 });
  });

  it('A3: are declared in nested objects by names with dots', async () => {
    const parameters = { 'user.first_name': 'string', 'user.address.number': 'number' };
    const user = { first_name: 'Ada', address: { number: '7' } };
    expect(await seen(parameters, { user })).toEqual({
      user: { first_name: 'Ada', address: { number: 7 } },
    });
    expect(await seen(parameters, { 'user.first_name': 'Ada', user: {} })).toEqual(
      refused({ 'user.first_name': 'is required', 'user.address.number': 'is required' }),
    );
  });

  it('A4: are refused where a required one is missing or null', async () => {
    expect(await seen({ a: 'string', b: 'number', c: 'object' }, { b: null, c: {} })).toEqual(
      refused({ a: 'is required', b: 'is required' }),
    );
  });

  it('A5: may be left out where they are optional, and are not there then', async () => {
    expect(await seen({ a: 'string?', b: 'number?' }, {})).toEqual({});
    expect(await seen({ a: 'string?', b: 'number?' }, { a: null, b: 1 })).toEqual({ b: 1 });
    expect(await seen({ a: 'number?' }, { a: 'x' })).toEqual(refused({ a: 'must be a number' }));
  });

  it.each<[string, unknown, unknown]>([
    ['number', '123', 123],
    ['number', ' -1.5e3 ', -1500],
    ['number', '09', 9],
    ['number', '+.5', 0.5],
    ['boolean', 'TRUE', true],
    ['boolean', 'false', false],
    ['string', 12.5, '12.5'],
    ['string', false, 'false'],
    ['object', { a: [1] }, { a: [1] }],
  ])('A6: are cast to their declared type: %s from %j', async (type, value, cast) => {
    expect(await seen({ value: type }, { value })).toEqual({ value: cast });
  });

  it.each<[string, unknown]>([
    ['number', 'abc'],
    ['number', ''],
    ['number', '0x10'],
    ['number', '1_000'],
    ['number', 'Infinity'],
    ['number', true],
    ['boolean', 'yes'],
    ['boolean', 1],
    ['string', { a: 1 }],
    ['string', ['a']],
    ['object', 'a'],
    ['object', [1]],
  ])('A6: are refused where they cannot be cast: %s from %j', async (type, value) => {
    expect(await seen({ value: type }, { value })).toEqual(
      refused({ value: `must be ${type === 'object' ? 'an' : 'a'} ${type}` }),
    );
  });

  it('A6: are refused where a number is beyond what a number can be', async () => {
    expect(await sent(await reactorWith({ value: 'number' }), '{"value":1e400}')).toEqual(
      refused({ value: 'must be a number' }),
    );
  });

  it('A7: are cast after their expressions are replaced', async () => {
    const parameters = { amount: 'number', label: 'string' };
    const [amount, label] = [await expressionOf('12.50'), await expressionOf(7)];
    expect(await seen(parameters, { amount, label })).toEqual({ amount: 12.5, label: '7' });
    expect(await seen(parameters, { amount: await expressionOf('much'), label })).toEqual(
      refused({ amount: 'must be a number' }),
    );
  });

  it('A8: are removed where they are not declared, without a look at them', async () => {
    const args = { kept: 1, other: { deep: [] }, user: { name: 'Ada', age: 'x' } };
    expect(await seen({ kept: 'number', 'user.name': 'string' }, args)).toEqual({
      kept: 1,
      user: { name: 'Ada' },
    });
    expect(await seen({ user: 'object' }, args)).toEqual({ user: args.user });
  });

  it('A9: may come from one token with several members', async () => {
    const parameters = {
      'card.number': 'string',
      'card.expiration_month': 'number',
      'card.expiration_year': 'string',
    };
    const expression = await expressionOf({ ...card, cvc: '123' }, 'card');
    expect(await seen(parameters, { card: expression })).toEqual({
      card: { ...card, expiration_year: '2030' },
    });
    expect(await seen({ 'card.holder': 'string' }, { card: expression })).toEqual(
      refused({ 'card.holder': 'is required' }),
    );
  });
});

describe('detokenization', () => {
  it('D1: finds expressions in every string, beside plain values', async () => {
    const expression = await expressionOf('4242');
    expect(
      await seen({}, { a: expression, b: [{ c: `ends in ${expression}` }, 'plain'], d: 1 }),
    ).toEqual({ a: '4242', b: [{ c: 'ends in 4242' }, 'plain'], d: 1 });
  });

  it.each([['text'], [12.5], [true], [['a', 1]]])(
    'D2: replaces an expression by the data with its type: %j',
    async (data) => {
      expect(await seen({}, { value: await expressionOf(data) })).toEqual({ value: data });
    },
  );

  it('D3: replaces a token with complex data by its whole JSON', async () => {
    const expression = await expressionOf(card, 'card');
    expect(await seen({}, { card: expression, text: `card: ${expression}` })).toEqual({
      card,
      text: `card: ${JSON.stringify(card)}`,
    });
  });

  it('D4: replaces at most 100 tokens of one request', async () => {
    const { body } = await call('POST', `${product.baseUrl}/tokenize`, {
      key: product.privateKey,
      body: Array.from({ length: 101 }, (_, nth) => `value ${nth}`),
    });
    const ids = body as unknown as string[];
    const args = (count: number) => ({ all: ids.slice(0, count).map((id) => `{{ ${id} }}`) });
    expect(await seen({}, args(100))).toEqual({
      all: Array.from({ length: 100 }, (_, nth) => `value ${nth}`),
    });
    expect(await seen({}, args(101))).toMatchObject({ status: 400, code: 'invalid_expression' });
  });

  it('runs nothing where one of its tokens does not exist', async () => {
    const args = { a: await expressionOf('x'), b: `{{ ${randomUUID()} }}` };
    expect(await seen({}, args)).toMatchObject({ status: 400, code: 'unknown_token' });
  });
});
