import type { StepToken, TransformStep } from '@glovebox/definitions';
import { atOnce, Budget } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { ServiceHeaders } from '@glovebox/wire';
import type { TokenRequest } from './token-placeholders';
import { readExactJson, writeExactJson } from './exact-json';
import { withoutValuesAt } from './spared-values';
import { applySteps, needsBody, type StepTools } from './steps';

const side = 'request' as const;
const serviceHeaders = new ServiceHeaders(['SVC', 'BT']);
const asJson = (text: string): unknown => atOnce(readExactJson(Buffer.from(text)));
const written = (body: unknown): string => atOnce(writeExactJson(body));

const mask = (path: string, expression: string): TransformStep => ({
  type: 'mask',
  options: { path, expression },
});
const tokenize = (path: string, token: StepToken = { type: 'token' }): TransformStep => ({
  type: 'tokenize',
  options: { path, token },
});
const detokenize = (path: string): TransformStep => ({
  type: 'detokenize',
  options: { path, enabled: false },
});
const append = (path: string, value: unknown): TransformStep => ({
  type: 'append',
  options: { location: 'body', path, value },
});
const remove = (path: string): TransformStep => ({
  type: 'remove',
  options: { location: 'body', path },
});
const appendTo = (location: 'header' | 'query', name: string, value: string): TransformStep => ({
  type: 'append',
  options: { location, name, value },
});
const removeFrom = (location: 'header' | 'query', name: string): TransformStep => ({
  type: 'remove',
  options: { location, name },
});

/** Makes ids in order, and records each call. */
function tokens(): Pick<StepTools, 'tokenize'> & { readonly calls: (readonly TokenRequest[])[] } {
  const calls: (readonly TokenRequest[])[] = [];
  return {
    calls,
    tokenize: (asked) => {
      calls.push(asked);
      return Promise.resolve(asked.map((_, at) => `t${at + 1}`));
    },
  };
}

async function body(text: string, ...steps: TransformStep[]): Promise<string> {
  const tools = { side, serviceHeaders, ...tokens() };
  const message = { headers: [], query: '', body: asJson(text) };
  return written((await applySteps(steps, message, tools)).body);
}

async function head(
  { headers = [], query = '' }: { headers?: string[]; query?: string },
  ...steps: TransformStep[]
) {
  const tools = { side, serviceHeaders, ...tokens() };
  const changed = await applySteps(steps, { headers, query, body: undefined }, tools);
  expect(changed.body).toBeUndefined();
  return { headers: changed.headers, query: changed.query };
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error as { code?: unknown }).code ?? error,
  );

describe('a step that masks', () => {
  it.each([
    [
      '{"card":{"number":"4242424242424242"}}',
      '$.card.number',
      '{{ $.card.number | last4 }}',
      '{"card":{"number":"4242"}}',
    ],
    [
      '{"a":"1234","b":"5678"}',
      '$.a',
      'ends in {{ $.b | slice: 2 }}',
      '{"a":"ends in 78","b":"5678"}',
    ],
    ['{"a":["123456","7890"]}', '$.a[*]', '{{ @ | reveal_last: 2 }}', '{"a":["****56","**90"]}'],
    [
      '{"a":[{"n":"12"},{"n":"34"}]}',
      '$..n',
      '{{ @ | slice: 1 }} of {{ $.a[0].n }}',
      '{"a":[{"n":"2 of 12"},{"n":"4 of 12"}]}',
    ],
    ['{"a":{"b":[1,{"c":true}]}}', '$.a', '{{ $.a.b }}', '{"a":[1,{"c":true}]}'],
    ['{"a":1}', '$', 'hidden', '"hidden"'],
    ['{"a":1}', '$', '{{ @.a }}', '1'],
    ['{"a":1}', '$.b.c', '{{ $.nothing }}', '{"a":1}'],
    ['{"a":null,"b":1}', '$.*', '{{ @ | upcase }}', '{"a":null,"b":"1"}'],
    ['[[1,2],[3]]', '$[*][-1]', 'x', '[[1,"x"],["x"]]'],
    ['{"a":{"a":"1"}}', '$..a', '{{ $..a | json: "$" | to_string }}', 'invalid_expression'],
    ['{"a":{"a":"1"}}', '$..a', 'x', '{"a":"x"}'],
    [
      '{"__proto__":{"a":"1"},"constructor":"2"}',
      '$.*',
      'x',
      '{"__proto__":"x","constructor":"x"}',
    ],
  ])('applies %s at %s', async (text, path, expression, expected) => {
    const made = body(text, mask(path, expression));
    await expect(made.catch((error: unknown) => (error as Problem).code)).resolves.toBe(expected);
  });

  it('makes all values from the body as it was before the step', async () => {
    const swap = mask('$.*', '{{ $.b }}{{ $.a }}');
    expect(await body('{"a":"1","b":"2"}', swap)).toBe('{"a":"21","b":"21"}');
  });

  it('gives each place its own value, so that a later step changes only that', async () => {
    const steps = [mask('$.to[*]', '{{ $.from }}'), append('$.to[0].a', 9), remove('$.from.a[0]')];
    expect(await body('{"from":{"a":[1]},"to":[0,0]}', ...steps)).toBe(
      '{"from":{"a":[]},"to":[{"a":[1,9]},{"a":[1]}]}',
    );
  });

  it.each([
    '{{ $.missing }}',
    '{{ $.list[*] }}',
    '{{ $.list | last4 }}',
    '{{ $.text | to_number }}',
  ])(
    'refuses a body that %s cannot be applied to, and echoes nothing of it',
    async (expression) => {
      const text = '{"list":["secret1","secret2"],"text":"secret3","at":1}';
      const refused = await body(text, mask('$.at', expression)).catch((error: unknown) => error);
      expect(refused).toMatchObject({ status: 400, code: 'invalid_expression' });
      expect(JSON.stringify((refused as Problem).body())).not.toContain('secret');
    },
  );
});

describe('numbers that no double holds', () => {
  const text = '{"id":12345678901234567890,"price":10.00,"list":[0.12345678901234567890],"a":"1"}';

  it('go out byte for byte, whatever steps change beside them', async () => {
    const steps = [mask('$.a', 'x'), append('$.b', 1), remove('$.b'), tokenize('$.c')];
    expect(await body(text, ...steps)).toBe(text.replace('"1"', '"x"'));
  });

  it('may be replaced and removed unread', async () => {
    expect(await body(text, mask('$.id', 'x'), remove('$.list[0]'))).toBe(
      '{"id":"x","price":10.00,"list":[],"a":"1"}',
    );
  });

  it.each([
    ['a mask of it', mask('$.a', '{{ $.id }}')],
    ['a mask of what holds it', mask('$.a', '{{ $.list | stringify }}')],
    ['a filter', mask('$.id', '{{ @ | last4 }}')],
    ['a token', tokenize('$.id')],
    ['a token of what holds it', tokenize('$')],
  ])('are refused when %s would lose digits', async (_, step) => {
    expect(await codeOf(body(text, step))).toBe('invalid_json');
  });

  it('are read as numbers when no digit is lost', async () => {
    const tools = { side, serviceHeaders, ...tokens() };
    const message = { headers: [], query: '', body: asJson(text) };
    const steps = [mask('$.a', '{{ $.price | append: " EUR" }}'), tokenize('$.price')];
    const { body: changed } = await applySteps(steps, message, tools);
    expect(changed).toMatchObject({ a: '10 EUR', price: 't1' });
    expect(tools.calls).toEqual([[{ token: { type: 'token' }, data: 10 }]]);
  });
});

describe('a step that tokenizes', () => {
  it('asks for all tokens of the message at once, and puts their ids in', async () => {
    const tools = { side, serviceHeaders, ...tokens() };
    const text = '{"cards":[{"n":"1","x":[true,1.5]},null,"3"],"name":"Zoë"}';
    const card: StepToken = { type: 'token', metadata: { a: 'b' } };
    const steps = [tokenize('$.cards[*]', card), append('$.b', 1), tokenize('$.name')];
    const message = { headers: [], query: '', body: asJson(text) };
    const { body: changed } = await applySteps(steps, message, tools);
    expect(tools.calls).toHaveLength(1);
    expect(new Set(tools.calls[0])).toEqual(
      new Set([
        { token: card, data: { n: '1', x: [true, 1.5] } },
        { token: card, data: '3' },
        { token: { type: 'token' }, data: 'Zoë' },
      ]),
    );
    const idOf = (data: unknown): string =>
      `t${(tools.calls[0] ?? []).findIndex((asked) => JSON.stringify(asked.data) === JSON.stringify(data)) + 1}`;
    expect(changed).toEqual({
      cards: [idOf({ n: '1', x: [true, 1.5] }), null, idOf('3')],
      name: idOf('Zoë'),
      b: 1,
    });
  });

  it('tokenizes the whole body for $', async () => {
    expect(await body('{"a":[1]}', tokenize('$'))).toBe('"t1"');
  });

  it('makes no token of a value that a later step masks or removes, and none when a later step fails', async () => {
    const tools = { side, serviceHeaders, ...tokens() };
    const run = (...steps: TransformStep[]) => {
      const message = { headers: [], query: '', body: asJson('{"a":"1","b":{"c":"2"}}') };
      return applySteps([tokenize('$.a'), tokenize('$.b.c'), ...steps], message, tools);
    };
    await run(mask('$.a', 'x'), remove('$.b'));
    expect(await codeOf(run(mask('$.a', '{{ $.nothing }}')))).toBe('invalid_expression');
    expect(tools.calls).toEqual([]);
  });

  it.each([
    ['a mask', mask('$.b', '{{ $.a }}')],
    ['a mask of what holds it', mask('$.b', '{{ $ | stringify }}')],
    ['a token of what holds it', tokenize('$')],
    ['another token', tokenize('$.a')],
  ])('refuses to let %s read a value that is not a token yet', async (_, step) => {
    expect(await codeOf(body('{"a":"1","b":"2"}', tokenize('$.a'), step))).toBe(
      'invalid_expression',
    );
  });

  it('hides a value that is not a token yet from paths', async () => {
    const steps = [tokenize('$.a'), mask('$..data', 'seen'), mask('$.a.*', 'seen')];
    expect(await body('{"a":{"data":"1"}}', ...steps)).toBe('{"a":"t1"}');
  });

  it('names the fault of a token by the path of its step', async () => {
    const refuse: StepTools = {
      side,
      serviceHeaders,
      tokenize: () => Promise.reject(invalid({ '0.data.number': ['is wrong'], other: ['x'] })),
    };
    const message = { headers: [], query: '', body: asJson('{"card":{}}') };
    await expect(applySteps([tokenize('$.card')], message, refuse)).rejects.toMatchObject({
      status: 400,
      errors: { '$.card: data.number': ['is wrong'], other: ['x'] },
    });
  });

  it('makes no call when there is nothing to tokenize', async () => {
    const tools = { side, serviceHeaders, ...tokens() };
    await applySteps([tokenize('$.a')], { headers: [], query: '', body: {} }, tools);
    expect(tools.calls).toEqual([]);
  });
});

describe('steps on the body', () => {
  it.each<[string, TransformStep, string]>([
    ['{"a":1}', append('$.b', { c: [null] }), '{"a":1,"b":{"c":[null]}}'],
    ['{"a":1}', append('$.a', 2), '{"a":2}'],
    ['{"a":[1]}', append('$.a', [2]), '{"a":[1,[2]]}'],
    ['{"l":[{},1,{"x":[0]},[]]}', append('$.l[*].x', 1), '{"l":[{"x":1},1,{"x":[0,1]},[]]}'],
    ['{"a":{"b":{}}}', append('$..b.c', 1), '{"a":{"b":{"c":1}}}'],
    ['[1]', append('$', 2), '[1,2]'],
    ['{"a":1}', append('$', 2), '{"a":1}'],
    ['{"a":1}', append('$.b.c', 2), '{"a":1}'],
    ['{}', append('$.__proto__', { polluted: 1 }), '{"__proto__":{"polluted":1}}'],
    ['{"a":1,"b":2}', remove('$.a'), '{"b":2}'],
    ['[1,2,3,4]', remove('$[0]'), '[2,3,4]'],
    ['[1,2,3,4]', remove('$[*]'), '[]'],
    ['{"a":[{"c":1},{"c":2,"d":3}]}', remove('$..c'), '{"a":[{},{"d":3}]}'],
    ['{"a":{"a":1}}', remove('$..a'), '{}'],
    ['{"a":1}', remove('$.b'), '{"a":1}'],
    ['{"a":1}', detokenize('$.a'), '{"a":1}'],
  ])('change %s by %j', async (text, step, expected) => {
    expect(await body(text, step)).toBe(expected);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('are applied in the order of the list', async () => {
    expect(await body('{"a":"1"}', append('$.b', '22'), mask('$.a', '{{ $.b | slice: 1 }}'))).toBe(
      '{"a":"2","b":"22"}',
    );
    expect(await body('{"a":"1"}', remove('$.a'), append('$.a', 2))).toBe('{"a":2}');
  });

  it('skip a message without a body', async () => {
    const steps = [mask('$', 'x'), tokenize('$'), append('$.a', 1), append('$', 1), remove('$.a')];
    expect(await head({}, ...steps)).toEqual({ headers: [], query: '' });
  });

  it.each<[boolean, TransformStep]>([
    [true, mask('$', 'x')],
    [true, tokenize('$')],
    [true, detokenize('$')],
    [true, append('$', 1)],
    [true, remove('$.a')],
    [false, appendTo('header', 'a', 'b')],
    [false, removeFrom('query', 'a')],
  ])('need the body: %s for %j', (needed, step) => {
    expect(needsBody([step])).toBe(needed);
    expect(needsBody([])).toBe(false);
  });
});

describe('a required step', () => {
  const required = (step: TransformStep): TransformStep =>
    ({ ...step, options: { ...step.options, required: true } }) as TransformStep;

  it.each<[string, TransformStep, string]>([
    ['masks', mask('$.card', 'x'), '{"card":"x"}'],
    ['masks a null, which has nothing to hide', mask('$.card', 'x'), '{"card":null}'],
    ['tokenizes', tokenize('$.card'), '{"card":"t1"}'],
    ['tokenizes a null, which is not data', tokenize('$.card'), '{"card":null}'],
    ['appends to the body', append('$.card', 1), '{"card":1}'],
    ['removes from the body', remove('$.card'), '{}'],
    ['leaves expressions alone', detokenize('$.card'), '{"card":1}'],
  ])('that %s passes where its path matches', async (title, step, after) => {
    const before = title.includes('null') ? '{"card":null}' : '{"card":1}';
    expect(await body(before, required(step))).toBe(after);
  });

  it.each<[string, TransformStep]>([
    ['masks', mask('$.cards[*].number', 'x')],
    ['tokenizes', tokenize('$.cards[*]')],
    ['appends to an object', append('$.cards.seen', 1)],
    ['appends to a list', append('$', 1)],
    ['removes', remove('$..cvc')],
    ['leaves expressions alone', detokenize('$.cards[0]')],
  ])('that %s ends the call where its path matches nothing', async (_, step) => {
    for (const text of ['{"card":1}', '{"cards":[]}', '{}', '"x"', 'null']) {
      await expect(body(text, append('$.other', 1), required(step))).rejects.toMatchObject({
        code: 'invalid_request',
        failure: {
          phase: 'transform',
          reason: 'request_transforms.1 is required, and its path matches nothing',
        },
      });
      await expect(body(text, step)).resolves.toBeDefined();
    }
  });

  it('ends the call when the message has no body', async () => {
    await expect(head({}, required(mask('$', 'x')))).rejects.toMatchObject({ status: 400 });
  });

  it('makes no token when a later one matches nothing', async () => {
    const made = tokens();
    const message = { headers: [], query: '', body: asJson('{"card":1}') };
    const steps = [tokenize('$.card'), required(mask('$.iban', 'x'))];
    await expect(applySteps(steps, message, { side, serviceHeaders, ...made })).rejects.toThrow();
    expect(made.calls).toEqual([]);
  });

  it('finds the values whose expressions stay, although an earlier step removes them', async () => {
    const steps = [remove('$.template'), required(detokenize('$.template'))];
    expect(await body('{"template":"{{x}}"}', ...steps)).toBe('{}');
  });

  it('says nothing of its path or of the body', async () => {
    const thrown = await body('{"planted":"body"}', required(mask('$.planted_path', 'x'))).catch(
      (error: unknown) => error,
    );
    const told = JSON.stringify((thrown as Problem).body({ withCause: true }));
    expect(told).not.toContain('planted');
  });
});

describe('steps on headers', () => {
  const headers = ['X-A', '1', 'x-b', '2', 'x-a', '3'];

  it('append a line, and remove all lines of a name in any case', async () => {
    const appended = await head({ headers }, appendTo('header', 'X-A', 'é'));
    expect(appended.headers).toEqual([...headers, 'X-A', 'é']);
    const removed = await head({ headers }, removeFrom('header', 'X-a'));
    expect(removed.headers).toEqual(['x-b', '2']);
  });

  it.each([
    'Host',
    'svc-api-key',
    'BT-Trace-Id',
    'Content-Length',
    'connection',
    'X-Forwarded-For',
  ])('leave %s alone, even if the step was written before it became ours', async (name) => {
    const all = { headers: ['a', 'b', name, 'c'] };
    expect(await head(all, appendTo('header', name, 'x'))).toMatchObject(all);
    expect(await head(all, removeFrom('header', name))).toMatchObject(all);
  });

  it.each(['a\r\nHost: b', 'a\nb', '\0', '日', '\x7f', '\x85'])(
    'refuse the value %j, which no header may hold',
    async (value) => {
      await expect(head({}, appendTo('header', 'a', value))).rejects.toMatchObject({
        code: 'invalid_request',
        failure: { phase: 'transform', reason: 'request_transforms.0 failed' },
      });
    },
  );
});

describe('steps on the query', () => {
  it.each<[string, TransformStep, string]>([
    ['', appendTo('query', 'a b', 'ü&='), 'a%20b=%C3%BC%26%3D'],
    ['x=1', appendTo('query', 'x', ''), 'x=1&x='],
    ['a=1&b=%zz&a=2&A=3&&c', removeFrom('query', 'a'), 'b=%zz&A=3&&c'],
    ['%61=1&b=1', removeFrom('query', 'a'), 'b=1'],
    ['a+b=1&a%20b=2&a%2Bb=3', removeFrom('query', 'a b'), 'a%2Bb=3'],
    ['a+b=1&a%2Bb=3&c', removeFrom('query', 'a+b'), 'c'],
    ['%ff%61=1&%61%ff=2&b', removeFrom('query', 'a'), '%ff%61=1&%61%ff=2&b'],
    ['a', removeFrom('query', 'a'), ''],
    ['b=%61', removeFrom('query', 'a'), 'b=%61'],
    ['', removeFrom('query', 'a'), ''],
  ])('change %j by %j', async (query, step, expected) => {
    expect((await head({ query }, step)).query).toBe(expected);
  });
});

describe('a value whose expressions stay as they are', () => {
  const spare = (text: string, ...steps: TransformStep[]) =>
    atOnce(withoutValuesAt(steps, asJson(text)));

  it('is taken out while others are replaced, and put back in its place', () => {
    const text = '{"a":"{{ one }}","b":["{{ two }}",{"c":1.0}],"d":"{{ three }}"}';
    const spared = spare(text, detokenize('$.b[*]'), detokenize('$.a'), mask('$', 'x'));
    expect(spared.text).toBe('{"a":null,"b":[null,null],"d":"{{ three }}"}');
    const filled = asJson(spared.text.replace('"{{ three }}"', '{"whole":12.00}'));
    expect(written(spared.putBack(filled))).toBe(text.replace('"{{ three }}"', '{"whole":12.00}'));
  });

  it('is put back when steps name it twice, or a part of it first', () => {
    const text = '{"a":{"b":"{{ x }}","c":"{{ y }}"}}';
    const spared = spare(text, detokenize('$.a.b'), detokenize('$.a'), detokenize('$.a'));
    expect(spared.text).toBe('{"a":null}');
    expect(written(spared.putBack(asJson(spared.text)))).toBe(text);
    expect(written(spare(text, detokenize('$')).putBack(null))).toBe(text);
  });

  it('ends the call when an expression has changed a name in the path to it', () => {
    const spared = spare('{"{{ x }}":{"a":"{{ y }}"}}', detokenize('$.*.a'));
    const filled = asJson(spared.text.replace('{{ x }}', 'name'));
    expect(() => spared.putBack(filled)).toThrow(Problem);
  });
});

describe('the work of a message is bounded for', () => {
  const twenty = (step: TransformStep): TransformStep[] => Array<TransformStep>(20).fill(step);
  const many = (item: string, count = 99_998): string => `[${Array(count).fill(item).join(',')}]`;

  async function cpuMsOf(work: () => unknown): Promise<number> {
    const begun = process.cpuUsage();
    await work();
    return process.cpuUsage(begun).user / 1_000;
  }

  /** The least of three: other work on the machine only ever adds to it. */
  async function leastCpuMsOf(work: () => unknown): Promise<number> {
    return Math.min(await cpuMsOf(work), await cpuMsOf(work), await cpuMsOf(work));
  }

  /** Half a second, on a machine of any speed: 100,000 values read and written ten times. */
  let halfSecondMs: number;
  beforeAll(async () => {
    halfSecondMs = await leastCpuMsOf(() => {
      for (let n = 0; n < 10; n += 1) written(asJson(many('1')));
    });
  });

  it.each<[string, string, TransformStep[], string, halfSeconds?: number]>([
    ['20 paths over 100,000 values', many('1'), twenty(mask('$..a', 'x')), 'done'],
    ['20 paths over lists in lists', many('[]'), twenty(remove('$..*')), 'payload_too_large'],
    [
      'paths that go over the same again and again',
      nested(1_500),
      twenty(mask(`$..${'*.'.repeat(60)}a`, 'x')),
      'payload_too_large',
      2.5,
    ],
    ['1,001 places of one step', many('1', 1_001), [mask('$[*]', 'x')], 'payload_too_large'],
    ['1,000 places of one step', many('1', 1_000), [mask('$[*]', 'x')], 'done'],
    [
      '1,001 tokens',
      many('"1"', 1_001),
      [tokenize('$[0]'), remove('$[-1]'), tokenize('$[*]')],
      'invalid_expression',
    ],
    [
      '1,000 costly masks',
      `{"a":${many('1', 1_000)},"b":${many('1', 90_000)}}`,
      [mask('$.a[*]', '{{ $..c }}')],
      'invalid_expression',
    ],
    [
      '1,000 costly masks that can be made',
      `{"a":${many('1', 1_000)},"b":[{"c":1},${many('1', 90_000)}]}`,
      [mask('$.a[*]', '{{ $..c }}')],
      'payload_too_large',
    ],
    [
      '1,000 long masks',
      `{"a":${many('1', 1_000)}}`,
      twenty(mask('$.a[*]', 'x'.repeat(4_096))),
      'payload_too_large',
    ],
    [
      '1,000 large masks',
      `{"a":${many('1', 1_000)},"b":"${'x'.repeat(1_000_000)}"}`,
      [mask('$.a[*]', '{{ $.b }}')],
      'payload_too_large',
    ],
    [
      'a body that doubles',
      `{"a":0,"b":"${'x'.repeat(1_000_000)}"}`,
      twenty(mask('$.a', '{{ $ }}')),
      'payload_too_large',
    ],
    [
      'a body that nests itself',
      `${'{"a":'.repeat(20)}{"b":0}${'}'.repeat(20)}`,
      twenty(mask('$..b', '{{ $ }}')),
      'payload_too_large',
    ],
    [
      '1,000 large values',
      many('{}', 1_000),
      twenty(append('$[*].a', 'x'.repeat(10_000))),
      'payload_too_large',
    ],
    [
      '1,000 values of many values',
      many('{}', 1_000),
      [append('$[*].a', Array(3_000).fill(0))],
      'payload_too_large',
    ],
    ['20 times 1,000 items less of 100,000', many('1'), twenty(remove('$[0]')), 'done'],
  ])('%s', async (_, text, steps, expected, halfSeconds = 1) => {
    const cpuMs = await leastCpuMsOf(async () => {
      expect(await codeOf(body(text, ...steps))).toBe(expected);
    });
    expect(cpuMs).toBeLessThan(halfSeconds * halfSecondMs);
  });

  function nested(count: number): string {
    const deep = '{"b":'.repeat(60) + '1' + '}'.repeat(60);
    return many(deep, count);
  }

  it('more than 1,000 tokens of several steps', async () => {
    const text = `{"a":${many('"1"', 600)},"b":${many('"1"', 401)}}`;
    const steps = [tokenize('$.a[*]'), tokenize('$.b[*]')];
    expect(await codeOf(body(text, ...steps))).toBe('payload_too_large');
    expect(await codeOf(body(text, tokenize('$.a[*]'), tokenize('$.b[-1]')))).toBe('done');
  });

  it('values that steps make, which count with everything else that the call makes', async () => {
    const budget = new Budget();
    budget.spend('x'.repeat(10 * 1024 * 1024 - 10));
    const message = { headers: [], query: '', body: asJson('{"a":"1"}') };
    const tools = { side, serviceHeaders, budget, ...tokens() };
    const large = [mask('$.a', 'more than ten characters')];
    expect(await codeOf(applySteps(large, message, tools))).toBe('payload_too_large');
  });

  it('long work, which lets other work be done meanwhile', async () => {
    let turns = 0;
    const budget = new Budget({ takeTurn: () => Promise.resolve(() => (turns += 1)) });
    let others = 0;
    const timer = setInterval(() => (others += 1), 1);
    const message = { headers: [], query: '', body: asJson(many('[]')) };
    const steps = Array<TransformStep>(10).fill(mask('$..a', 'x'));
    await applySteps(steps, message, { side, serviceHeaders, budget, ...tokens() });
    clearInterval(timer);
    expect(turns).toBe(1);
    expect(others).toBeGreaterThan(3);
  });
});
