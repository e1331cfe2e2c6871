import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { call, create, runningProduct, until, type Answer } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl } = product;
const canary = 'canary-of-a-kept-answer';

/** Each way in which code comes to see a token. All but `argument` happen as the application. */
const code = `
module.exports = async ({ args, svc }) => {
  const expression = '{{ ' + args.id + ' }}';
  const seen = {
    argument: async () => args.value,
    detokenize: () => svc.detokenize(expression),
    retrieve: async () => (await svc.tokens.retrieve(args.id)).data,
    list: async () => (await svc.tokens.list({ id: args.id })).data[0].data,
    thrown: async () => {
      throw new Error('seen: ' + JSON.stringify(await svc.detokenize(expression)).length);
    },
    create: async () => (await svc.tokens.create({ id: args.id, data: args.data })).data,
  }[args.way];
  if (args.way === 'tokenize') {
    return { tokenize: { type: 'token', id: args.id, data: args.data } };
  }
  return { raw: { seen: await seen() } };
};`;

const ways = [
  'argument',
  'detokenize',
  'retrieve',
  'list',
  'thrown',
  'create',
  'tokenize',
] as const;
type Way = (typeof ways)[number];

const all = ['token:create', 'token:read', 'token:use', 'token:delete'];
const rule = (transform: string, container = '/', permissions = all) => ({
  description: 'a rule',
  priority: container === '/' ? 2 : 1,
  container,
  transform,
  permissions,
});

interface Party {
  readonly id: string;
  readonly key: string;
}

/** Runs whose tokens are deleted. */
const erased: Awaited<ReturnType<typeof ended>>[] = [];
let receiver: Receiver;
let postgres: Client;
let formulaId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  postgres = new Client({ connectionString: product.databaseUrl });
  await postgres.connect();
  const formula = { type: 'private', name: 'kept answers', code };
  formulaId = (await create(product, '/reactor-formulas', formula)).id;
});

afterAll(async () => {
  await postgres.end();
  await receiver.close();
});

async function application(): Promise<Party> {
  const body = { name: 'kept answers', type: 'private', rules: [rule('reveal')] };
  const { id, key } = await create(product, '/applications', body);
  return { id, key: String(key) };
}

/** A run of the way that has ended, sync with a key and async, and how to ask for both again. */
async function ended(way: Way) {
  const [caller, svc] = [await application(), await application()];
  const reactor = await create(product, '/reactors', {
    name: 'kept answers',
    configuration: {},
    formula: { id: formulaId },
    application: { id: svc.id },
  });
  const [id, made] = [`kept-${randomUUID()}`, `kept-${randomUUID()}`];
  const isMaking = way === 'create' || way === 'tokenize';
  if (!isMaking) await create(product, '/tokens', { id, data: canary }, svc.key);
  const argsOf = (name: string) => ({
    args: isMaking
      ? { way, id: name, data: canary }
      : { way, id: name, ...(way === 'argument' ? { value: `{{ ${id} }}` } : {}) },
  });
  const react = (body: object, headers: Record<string, string> = {}) =>
    call('POST', `${baseUrl}/reactors/${reactor.id}/react`, { key: caller.key, body, headers });
  const once = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const again = () => react(argsOf(isMaking ? made : id), once);
  const first = await again();
  const accepted = await react({ ...argsOf(id), callback_url: receiver.url });
  const requestId = String(accepted.body.async_request_id);
  const result = () =>
    call('GET', `${baseUrl}/reactors/${reactor.id}/results/${requestId}`, { key: caller.key });
  await until(async () => (await result()).body.status !== 'pending');
  await until(async () => (await bodyOf(requestId)) !== undefined);
  const party = way === 'argument' ? caller : svc;
  return {
    caller,
    party,
    svc,
    first,
    again,
    result,
    requestId,
    tokens: isMaking ? [id, made] : [id],
  };
}

/** Whether the body of an ended webhook is there. Undefined while the webhook is tried. */
async function bodyOf(id: string): Promise<boolean | undefined> {
  const { rows } = await postgres.query<{ kept: boolean }>(
    'SELECT body IS NOT NULL AS kept FROM ended_deliveries WHERE id = $1',
    [id],
  );
  return rows[0]?.kept;
}

const outcomesOf = async (applicationId: string): Promise<boolean[]> =>
  (
    await postgres.query<{ kept: boolean }>(
      'SELECT response IS NOT NULL AS kept FROM idempotency_keys WHERE application_id = $1',
      [applicationId],
    )
  ).rows.map(({ kept }) => kept);

const linesOf = async ({ id }: Party): Promise<string[]> =>
  (
    await postgres.query<{ line: string }>(
      `SELECT operation || ' ' || outcome AS line FROM audit_log
       WHERE actor_id = $1 AND operation IN ('repeat', 'result.read') ORDER BY id`,
      [id],
    )
  ).rows.map(({ line }) => line);

const change = async ({ id }: Party, rules: readonly object[]): Promise<void> => {
  const { adminKey: key } = product;
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  const patch = { key, headers, body: { rules } };
  expect((await call('PATCH', `${baseUrl}/applications/${id}`, patch)).status).toBe(204);
};

const shown = ({ status, text }: Answer): [number, boolean] => [status, text.includes('seen')];

describe.each(ways)('an answer of a run that saw a token by %s', (way) => {
  it('is 403 for as long as it could not be opened, and 410 once the token is deleted', async () => {
    const run = await ended(way);
    const status = way === 'thrown' ? 500 : 200;
    const seen = way === 'tokenize' ? canary : 'seen';
    expect([run.first.status, run.first.text.includes(seen)]).toEqual([status, true]);
    expect((await run.again()).text).toBe(run.first.text);
    expect((await run.result()).text).toContain(seen);
    // Each line of the results by id that were asked for until the run had ended comes before.
    const linesBefore = (await linesOf(run.caller)).length;

    for (const rules of [
      [rule('reveal', '/elsewhere/'), rule('reveal', '/', ['token:delete'])],
      [rule('redact', '/general/'), rule('reveal')],
      [rule('mask', '/general/'), rule('reveal')],
    ]) {
      await change(run.party, rules);
      for (const answer of [await run.again(), await run.result()]) {
        expect([answer.status, answer.body.code]).toEqual([403, 'permission_denied']);
        expect(answer.text).not.toContain(canary);
      }
    }
    await change(run.party, [rule('reveal')]);
    expect([(await run.again()).status, (await run.result()).status]).toEqual([status, 200]);

    for (const id of run.tokens) {
      const deleted = await call('DELETE', `${baseUrl}/tokens/${id}`, { key: run.svc.key });
      expect(deleted.status).toBe(204);
    }
    const outcome = way === 'thrown' ? 'reactor_error' : 'completed';
    const gone = { outcome, http_status: status, run_id: expect.any(String) as string };
    const askBoth = async (): Promise<void> => {
      for (const answer of [await run.again(), await run.result()]) {
        expect(answer.status).toBe(410);
        expect(answer.body).toMatchObject({ code: 'data_gone', ended: gone });
        expect(shown(answer)).toEqual([410, false]);
      }
    };
    await askBoth();
    erased.push(run);

    const pair = (result: string) => [`repeat ${result}`, `result.read ${result}`];
    expect((await linesOf(run.caller)).slice(linesBefore)).toEqual([
      ...[pair('refused'), pair('refused'), pair('refused'), pair('success')].flat(),
      ...pair('refused'),
    ]);
  });
});

it('the answers of the runs above are erased within a minute, and still say how the runs ended', async () => {
  expect(erased).toHaveLength(ways.length);
  for (const run of erased) {
    await until(async () => !(await outcomesOf(run.caller.id)).includes(true), 60_000);
    await until(async () => (await bodyOf(run.requestId)) === false, 60_000);
    expect([(await run.again()).status, (await run.result()).status]).toEqual([410, 410]);
  }
});

it('an answer of a run that saw nothing of tokens lasts, and a 202 is repeated as it is', async () => {
  const caller = await application();
  const reactor = await create(product, '/reactors', {
    name: 'kept answers',
    configuration: {},
    formula: { id: formulaId },
  });
  const once = { 'SVC-IDEMPOTENCY-KEY': randomUUID() };
  const body = { args: { way: 'argument', value: 'seen' }, callback_url: receiver.url };
  const url = `${baseUrl}/reactors/${reactor.id}/react`;
  const first = await call('POST', url, { key: caller.key, body, headers: once });
  const result = `${baseUrl}/reactors/${reactor.id}/results/${String(first.body.async_request_id)}`;
  await until(
    async () => (await call('GET', result, { key: caller.key })).body.status === 'completed',
  );
  await change(caller, [rule('reveal', '/elsewhere/')]);
  const second = await call('POST', url, { key: caller.key, body, headers: once });
  expect([second.status, second.text]).toEqual([202, first.text]);
  expect((await call('GET', result, { key: caller.key })).status).toBe(200);
});
