import { monitorEventLoopDelay } from 'node:perf_hooks';
import { applicationGone, Problem } from '@glovebox/problems';
import type { RunRecord } from '@glovebox/runs';
import { createRunnerClient } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { redactLater, waitingLines } from './line-redactions';
import { OpenedValues } from './opened-values';
import { RunRecording, runsRecorded } from './run-recording';
import { application, asApplication, reactor, SpecInvocations } from './spec-invocations';
import { knowing } from './spec-known';

let spec: SpecInvocations;
beforeAll(async () => {
  spec = await SpecInvocations.open();
});
afterAll(() => spec.close());

type Options = NonNullable<Parameters<SpecInvocations['run']>[1]>;

/** The one record of a run that returned or threw. */
async function recordOf(code: string, options: Options = {}): Promise<RunRecord> {
  const records: RunRecord[] = [];
  const record = (made: RunRecord): void => void records.push(made);
  await spec.run(code, { ...options, record }).catch(() => undefined);
  expect(records).toHaveLength(options.urgency === 'async' ? 1 : 0);
  const first = await waitFor(() => records.find(() => true) ?? fail('no record'));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(records).toHaveLength(1);
  return first;
}
const fail = (why: string): never => {
  throw new Error(why);
};
/** A recording of its own, with what it has recorded and complained about. */
function recordingOf(urgency: 'sync' | 'async') {
  const records: RunRecord[] = [];
  const logged: unknown[] = [];
  const recording = new RunRecording({
    ...{ tenantId: 'tenant', urgency, signal: undefined, argumentNames: () => [], codeHash: '' },
    logger: { error: (entry) => void logged.push(entry) },
    record: (made) => void records.push(made),
  });
  return { recording, records, logged };
}
const textsOf = ({ lines }: RunRecord): string[] => lines.map(({ text }) => text);

const card = '4242424242424242';

describe('the record of a run', () => {
  it('says how it ended and how long it took, and names arguments and tokens', async () => {
    const id = await spec.storeToken(card);
    const from = Date.now();
    const code = `module.exports = async () => { console.log('a'); await new Promise((r) => setTimeout(r, 50)); console.warn('b') }`;
    const { startedAt, durationMs, queuedMs, ...record } = await recordOf(code, {
      args: { card: `{{ ${id} }}`, order: { id: 7, 'a card': 1 } },
    });
    expect(record).toEqual({
      outcome: 'completed',
      status: 200,
      argumentNames: ['card', 'order.id', 'order.?'],
      codeHash: code,
      tokenIds: [id],
      lines: [
        { at: expect.any(Number) as number, level: 'info', text: 'a' },
        { at: expect.any(Number) as number, level: 'warn', text: 'b' },
      ],
    });
    expect(startedAt).toBeGreaterThanOrEqual(from);
    expect(durationMs).toBeGreaterThanOrEqual(50);
    expect(queuedMs).toBeGreaterThanOrEqual(0);
    expect(queuedMs).toBeLessThan(durationMs);
  });

  it.each<[string, string, object, Options]>([
    [
      'throws',
      `const { RateLimitError } = require('@svc/reactor-errors');\nmodule.exports = () => { throw new RateLimitError() }`,
      {
        ...{ outcome: 'reactor_error', status: 429, message: 'Rate Limit Exceeded' },
        ...{ position: { line: 2, column: 32 } },
        stack: [{ function: 'module.exports', line: 2, column: 32 }],
      },
      {},
    ],
    [
      'times out',
      `module.exports = () => { console.log('begun'); for (;;); }`,
      {
        outcome: 'reactor_timeout',
        status: 504,
        message: expect.stringMatching(/^The reactor ran longer than 1 s[;,]/) as string,
        lines: [expect.objectContaining({ text: 'begun' })],
      },
      { timeoutMs: 1_000 },
    ],
    [
      'dies',
      `module.exports = () => { console.log('begun'); process._getActiveHandles()[0].write(Buffer.alloc(99, 255)); for (;;); }`,
      {
        outcome: 'reactor_crashed',
        status: 500,
        message: 'The reactor broke the protocol of its sandbox.',
        lines: [expect.objectContaining({ text: 'begun' })],
      },
      {},
    ],
    [
      'does not compile',
      'module.exports = (',
      {
        outcome: 'invalid_code',
        status: 422,
        message: 'code: SyntaxError: Unexpected end of input (line 1)',
      },
      {},
    ],
    [
      'returns no object',
      'module.exports = () => 1',
      { outcome: 'invalid_reactor_result', message: 'The reactor must return an object.' },
      {},
    ],
    [
      'returns too much',
      `module.exports = () => ({ raw: 'x'.repeat(1024 * 1024) })`,
      {
        outcome: 'invalid_reactor_result',
        message: 'The object that the reactor returned is too large.',
      },
      {},
    ],
    [
      'returns what may not be stored',
      `module.exports = () => ({ tokenize: 'x' })`,
      {
        outcome: 'application_gone',
        status: 409,
        message: applicationGone('reactor').message,
      },
      { now: { reactor: asApplication, application: null } },
    ],
    [
      'lacks an argument',
      'module.exports = () => ({})',
      {
        ...{ outcome: 'validation_failed', status: 400, message: 'args.a: is required' },
        ...{ argumentNames: ['b'], tokenIds: [] },
      },
      {
        now: {
          formula: {
            requestParameters: [
              { name: 'a', type: 'string', optional: false },
              { name: 'b', type: 'string', optional: false },
            ],
          },
        },
        args: { b: 'x', undeclared: 'y' },
      },
    ],
    [
      'names a token that is unknown',
      'module.exports = () => ({})',
      { outcome: 'unknown_token', status: 400, tokenIds: [] },
      { args: { a: '{{ nobody-knows-me }}' } },
    ],
    [
      'does not start because a definition changed',
      'module.exports = () => ({})',
      { outcome: 'changed_meanwhile', status: 409 },
      { later: () => Promise.reject(new Problem('changed_meanwhile')) },
    ],
  ])('is made when the run %s', async (_, code, ended, options) => {
    expect(await recordOf(code, options)).toMatchObject(ended);
    expect(await recordOf(code, { ...options, urgency: 'async' })).toMatchObject(ended);
  });

  it('says that nobody waited any more, and that no runner had room', async () => {
    const leaving = new AbortController();
    const cancelled = recordOf('module.exports = () => new Promise(() => {})', {
      signal: leaving.signal,
      beforeCode: () => Promise.resolve(void setImmediate(() => leaving.abort())),
    });
    expect(await cancelled).toMatchObject({
      ...{ outcome: 'cancelled', status: 499 },
      message: 'The caller left before the run had ended.',
    });

    const own = spec.context;
    const nobody = createRunnerClient({ urls: ['unix:/nonexistent/runner.sock'], secret: 's' });
    spec.context = { ...own, runner: nobody };
    const full = await recordOf('module.exports = () => ({})').finally(() => (spec.context = own));
    expect(full).toMatchObject({
      ...{ outcome: 'no_capacity', status: 503, queuedMs: 0 },
      message: 'No free capacity to run the code.',
    });
    await nobody.close();
  });

  it('has at most 100 names, none of them data', async () => {
    const args = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`n${n}`, n]));
    const many = await recordOf('module.exports = () => ({})', { args });
    expect(many.argumentNames).toEqual(Array.from({ length: 100 }, (_, n) => `n${n}`));
    const odd = {
      'ada@example.com': 1,
      'Ada Lovelace': 2,
      [card]: { [card]: 3 },
      ['x'.repeat(65)]: 4,
    };
    const { argumentNames } = await recordOf('module.exports = () => ({})', { args: odd });
    expect(argumentNames).toEqual(['?', '?.?']);
  });

  it('names declared arguments that one token filled, and none that it lacks', async () => {
    const token = await spec.storeToken({ number: card, holder: { name: 'Ada' } });
    const requestParameters = ['card.number', 'card.holder', 'card.cvc', 'sum'].map((name) => ({
      ...{ name, optional: true },
      type: name === 'card.holder' ? ('object' as const) : ('string' as const),
    }));
    const now = { formula: { requestParameters } };
    const args = { card: `{{ ${token} }}`, sum: '5' };
    expect(await recordOf('module.exports = () => ({})', { now, args })).toMatchObject({
      argumentNames: ['card.number', 'card.holder', 'sum'],
    });
    const undeclared = await recordOf('module.exports = () => ({})', { args });
    expect(undeclared.argumentNames).toEqual(['card', 'sum']);
  });

  it('has lines without what the code returns to be tokenized', async () => {
    const record = await recordOf(
      `module.exports = () => { console.log('new card: ${card}'); return { tokenize: ['${card}'] } }`,
    );
    expect(textsOf(record)).toEqual(['new card: [redacted]']);
  });

  it('is made without lines where they cannot be redacted', async () => {
    const { recording, records, logged } = recordingOf('async');
    const unreadable = new Proxy({ at: 1, level: 'info', text: 'a secret' } as const, {
      get: () => fail('a line that cannot be looked at'),
    });
    recording.knows(knowing('a secret'));
    await recording.execute(async () => recording.onLog(unreadable));
    expect(records).toMatchObject([{ outcome: 'completed', lines: [] }]);
    expect(logged).toHaveLength(1);
  });

  it('is waited for by a process that stops, for a limited time', async () => {
    const { recording, records } = recordingOf('sync');
    const known = Array.from({ length: 10_000 }, (_, n) => `${'a'.repeat(990)}${n}`);
    recording.knows(knowing(known));
    await recording.execute(async () =>
      recording.onLog({ at: 1, level: 'info', text: 'a'.repeat(60_000) }),
    );
    await runsRecorded(1);
    expect(records).toEqual([]);
    await runsRecorded(10_000);
    expect(records).toMatchObject([{ lines: [{ text: '[redacted]' }] }]);
  });

  it('without a text is handed over behind the answers of its moment, and fails no other', async () => {
    const events: string[] = [];
    const logged: unknown[] = [];
    const recordings = ['a', 'broken', 'b'].map(
      (name) =>
        new RunRecording({
          ...{
            tenantId: 'tenant',
            urgency: 'sync',
            signal: undefined,
            argumentNames: () => [name],
            codeHash: '',
          },
          logger: { error: (entry) => void logged.push(entry) },
          record: ({ argumentNames }) => {
            if (name === 'broken') fail('the log of runs is broken');
            events.push(`record of ${argumentNames.join()}`);
          },
        }),
    );
    const answered = recordings.map((recording) =>
      recording.execute(() => Promise.resolve()).then(() => events.push('answer')),
    );
    await Promise.all(answered);
    await runsRecorded(10_000);
    expect(events).toEqual(['answer', 'answer', 'answer', 'record of a', 'record of b']);
    expect(logged).toHaveLength(1);
  });

  it('cannot fail the run', async () => {
    const logged: unknown[] = [];
    const own = spec.context;
    spec.context = { ...own, logger: { error: (entry) => void logged.push(entry) } };
    const record = (): never => fail('the log of runs is broken');
    try {
      for (const urgency of ['sync', 'async'] as const) {
        const answer = spec.run('module.exports = () => ({ raw: 1 })', { record, urgency });
        expect(await answer).toEqual({ raw: 1 });
      }
      await waitFor(() => logged.length === 2);
    } finally {
      spec.context = own;
    }
  });
});

describe('a line of a run', () => {
  it('shows no value that the run knew, in any encoding', async () => {
    const [argument, opened] = [await spec.storeToken(card), await spec.storeToken('from svc')];
    const code = `module.exports = async ({ args, configuration, svc }) => {
      const opened = await svc.detokenize('{{ ${opened} }}');
      for (const value of [args.card, args.plain, configuration.key, opened]) {
        console.log('raw', value);
        console.warn('base64', Buffer.from(value).toString('base64url'));
        console.error('hex', Buffer.from(value).toString('hex'));
        console.debug('encoded', [...Buffer.from(value)].map((b) => '%' + b.toString(16)).join(''));
        console.info({ nested: [value] });
      }
    }`;
    const record = await recordOf(code, {
      now: { reactor: { ...asApplication, configuration: { key: 'from config' } }, application },
      args: { card: `{{ ${argument} }}`, plain: 'from the arguments' },
    });
    const shown = ['raw', 'base64', 'hex', 'encoded'].map((what) => `${what} [redacted]`);
    const each = [...shown, `{ nested: [ '[redacted]' ] }`];
    expect(textsOf(record)).toEqual([...each, ...each, ...each, ...each]);
  });

  it('shows nothing where the code opened more than can be remembered', async () => {
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, n) => spec.storeToken(`${n}`.repeat(900_000))),
    );
    const code = `module.exports = async ({ svc }) => {
      for (const id of ${JSON.stringify(ids)}) await svc.detokenize('{{ ' + id + ' }}');
      console.log('a line');
      throw new Error('an error');
    }`;
    const options = { now: { reactor: asApplication, application } };
    expect(textsOf(await recordOf(code, options))).toEqual(['[redacted]']);
    await expect(spec.run(code, options)).rejects.toMatchObject({
      errors: { error: ['[redacted]'] },
    });
  });

  it('shows no part of a long value, and is kept whole otherwise', async () => {
    const key = Array.from({ length: 400 }, (_, n) => `part${n}`).join('');
    const record = await recordOf(
      `module.exports = ({ args }) => { console.log('x'.repeat(20000) + args.key + 'y'.repeat(20000)) }`,
      { args: { key } },
    );
    expect(textsOf(record)).toEqual([`${'x'.repeat(20_000)}[redacted]${'y'.repeat(20_000)}`]);
  });

  it('is one of at most 200, and of 64 KB; the last then says that there were more', async () => {
    const many = await recordOf(
      'module.exports = () => { for (let i = 0; i < 999; i++) console.log(i) }',
    );
    expect(many.lines).toHaveLength(200);
    expect(textsOf(many).slice(197)).toEqual(['197', '198', 'Further lines were dropped.']);
    const whole = await recordOf(
      'module.exports = () => { for (let i = 0; i < 200; i++) console.log(i) }',
    );
    expect(textsOf(whole).slice(197)).toEqual(['197', '198', '199']);
    const long = await recordOf(
      `module.exports = () => { for (let i = 0; i < 9; i++) console.log('ab '.repeat(9000)) }`,
    );
    expect(Buffer.byteLength(textsOf(long).join(''))).toBe(64 * 1024);
    expect(textsOf(long).pop()).toBe('Further lines were dropped.');
  });

  it('is in the record of its own run only', async () => {
    const code = `module.exports = async () => { for (let i = 0; i < 10; i++) { console.log('NAME'); await null } }`;
    const records = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        recordOf(code.replace('NAME', name), { now: { reactor: { ...reactor, id: name } } }),
      ),
    );
    expect(records.map(textsOf)).toEqual(['one', 'two', 'three'].map((n) => Array(10).fill(n)));
  });
});

describe('why a run failed', () => {
  it('is told by a message and a stack without anything that the run knew', async () => {
    const id = await spec.storeToken({ number: card });
    const code = `
const charge = (card) => ({ [card.number]() { throw new TypeError('no ' + card.number) } })[card.number]();
module.exports = async ({ args }) => { await null; charge(args.card) }`;
    const record = await recordOf(code, { args: { card: `{{ ${id} }}` } });
    const column = expect.any(Number) as number;
    expect(record).toMatchObject({
      message: 'no [redacted]',
      stack: [
        { function: '[redacted]', line: 2, column },
        { function: 'charge', line: 2, column },
        { function: 'module.exports', line: 3, column },
      ],
    });
    expect(JSON.stringify(record)).not.toContain(card);
  });

  it('is short, whatever code does to make it long', async () => {
    const { message, stack } = await recordOf(
      `Error.stackTraceLimit = Infinity;
       const f = (n) => f(n + 1) + 1;
       module.exports = () => { try { f(0) } catch (error) { error.message = 'x'.repeat(1e7); throw error } }`,
    );
    expect(message).toBe('x'.repeat(1_000));
    expect(stack).toHaveLength(20);
    const many = await recordOf(
      `const { BadRequestError } = require('@svc/reactor-errors');
       module.exports = () => { throw new BadRequestError(Array(1e4).fill('ab '.repeat(300))) }`,
    );
    expect(many.message).toHaveLength(1_000);
  });

  it('names no function where the lines of the run were dropped', async () => {
    const { recording, records } = recordingOf('async');
    recording.knows(knowing('known value'));
    const stack = [{ function: 'charge', line: 1, column: 2 }];
    recording.ended({ kind: 'threw', error: { name: 'Error', message: 'a', stack } });
    const release = waitingLines.takeNow('others', 96 * 1024 * 1024);
    await recording.execute(() => Promise.reject(new Error('a'))).catch(() => undefined);
    release();
    expect(records).toMatchObject([{ stack: [{ line: 1, column: 2 }] }]);
    expect(JSON.stringify(records)).not.toContain('charge');
  });
});

describe('members of a result that nobody gets', () => {
  const note = async (result: string, options?: Options) =>
    textsOf(await recordOf(`module.exports = ({ args }) => (${result})`, options)).at(-1);

  it('are named below the lines of the code', async () => {
    const record = await recordOf(
      `module.exports = () => { console.log('a'); return { id: 1, status: 2 } }`,
    );
    expect(record.lines.map(({ level, text }) => [level, text])).toEqual([
      ['info', 'a'],
      ['warn', 'id, status were dropped: return raw'],
    ]);
    expect(await note('{ id: 1, raw: {} }')).toBe('id was dropped: return raw');
    expect(await note('{ raw: {}, tokenize: undefined }')).toBeUndefined();
    expect(await note('undefined')).toBeUndefined();
  });

  it('are named as far as they are names, and no value that the run knew is', async () => {
    const names = `Object.fromEntries(['a b', 'x'.repeat(41), 'ä', ...Array(12).keys()].map((n) => [n, 1]))`;
    expect(await note(names)).toBe('0, 1, 2, 3, 4, 5, 6, 7, 8, 9, +5 were dropped: return raw');
    expect(await note(`{ 'a b': 1 }`)).toBe('+1 was dropped: return raw');
    const id = await spec.storeToken({ number: card, secret_member: 1 });
    const args = { card: `{{ ${id} }}`, plain: 'a-plain-text' };
    expect(
      await note(`{ [args.card.number]: 1, [args.plain]: 1, ['secret_' + 'member']: 1, b: 1 }`, {
        args,
      }),
    ).toMatch(/^\[redacted\], \[redacted\], b, \+\S+ were dropped: return raw$/);
  });

  it('are not named where they may be data or a key that the run did not know', async () => {
    const pin = '4000 0012 3456 7899'.replaceAll(' ', '-');
    expect(await note(`{ '${card}': 1, '${pin}': 1, 'key_${'aB'.repeat(16)}c': 1, b: 1 }`)).toBe(
      'b, +3 were dropped: return raw',
    );
  });

  it('cost a run that has written all that it may none of its lines', async () => {
    const record = await recordOf(
      `module.exports = () => { for (let n = 0; n < 300; n++) console.log('n'); return { id: 1 } }`,
    );
    expect(textsOf(record).slice(-3)).toEqual([
      'n',
      'Further lines were dropped.',
      'id was dropped: return raw',
    ]);
    expect(record.lines).toHaveLength(201);
  });
});

describe('redacting lines', () => {
  const linesOf = (text: string, count = 200) =>
    Array.from({ length: count }, () => ({ at: 1, level: 'info', text }));
  const redacting = (tenantId: string, more: object = {}) =>
    new Promise<readonly { text: string }[]>((resolve) =>
      redactLater(
        {
          ...{ tenantId, names: [], notes: [] },
          ...{ lines: linesOf('a known value'), known: knowing('known value'), ...more },
        },
        ({ lines }) => resolve(lines),
      ),
    );

  it('shows nothing that would take too much work', async () => {
    const known = Array.from({ length: 10_000 }, (_, n) => `${'a'.repeat(990)}${n}`);
    const [line] = await redacting('t', {
      lines: linesOf('a'.repeat(60_000), 1),
      known: knowing(known),
    });
    expect(line?.text).toBe('[redacted]');
    const opened = new OpenedValues();
    opened.add('svc.detokenize', 'x'.repeat(5_000_000));
    const [unknown] = await redacting('t', { known: knowing('known value', { opened }) });
    expect(unknown?.text).toBe('[redacted]');
  });

  it('begins again for a run that ends when the last one has just been redacted', async () => {
    for (let n = 0; n < 10; n += 1) expect(await redacting('t')).toHaveLength(200);
  });

  it('lets others be served, and keeps little in memory however much is written', async () => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const known = knowing(['known value', 'x'.repeat(100_000)]);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => redacting('busy', { known })),
    );
    delay.disable();
    // In one piece it takes seconds.
    expect(delay.max / 1e6).toBeLessThan(250);
    const dropped = answers.filter(([line]) => /were dropped/.test(line?.text ?? ''));
    expect(dropped.length).toBeGreaterThan(90);
    expect(answers.filter(([line]) => line?.text === 'a [redacted]').length).toBe(
      100 - dropped.length,
    );
    expect(waitingLines.state.held).toBe(0);
  });

  it('takes tenants in turn', async () => {
    const order: string[] = [];
    const busy = Array.from({ length: 20 }, () => redacting('busy').then(() => order.push('busy')));
    await redacting('other').then(() => order.push('other'));
    await Promise.all(busy);
    expect(order.indexOf('other')).toBeLessThan(3);
  });
});
