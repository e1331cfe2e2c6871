import type { Problem } from '@glovebox/problems';
import type { RunOutcome } from '@glovebox/sandbox';
import { returnedValue, type Ran } from './reactor-response';
import { redactorOf } from './redact';
import { aReactor, knowing } from './spec-known';

const secrets = [{ number: '4242424242424242', cvc: '123' }, 'a long secret', 987654];
const redact = redactorOf(knowing(secrets));

async function problemOf(outcome: RunOutcome, ran: Ran = aReactor): Promise<Problem> {
  try {
    await returnedValue(outcome, redact, ran);
  } catch (error) {
    return error as Problem;
  }
  throw new Error('nothing was thrown');
}
const threw = (
  error: Extract<RunOutcome, { kind: 'threw' }>['error'],
  ran?: Partial<Ran>,
): Promise<Problem> => problemOf({ kind: 'threw', error }, { ...aReactor, ...ran });

describe('an error that a reactor threw', () => {
  it.each([
    ['BadRequestError', 400, 'Bad Request'],
    ['InvalidReactorConfigurationError', 400, 'Invalid Reactor Configuration'],
    ['AuthenticationError', 401, 'Authentication Failed'],
    ['InvalidPaymentMethodError', 402, 'Invalid Payment Method'],
    ['AuthorizationError', 403, 'Forbidden'],
    ['RateLimitError', 429, 'Rate Limit Exceeded'],
    ['ReactorRuntimeError', 500, 'Reactor Runtime Error'],
    ['ServiceUnavailableError', 503, 'Service Unavailable'],
    ['TypeError', 500, 'Reactor Runtime Error'],
    ['__proto__', 500, 'Reactor Runtime Error'],
  ])('is answered by its class: %s is %d', async (name, status, detail) => {
    const problem = await threw({ name, message: 'why', errors: { error: ['why'] } });
    expect(problem.body()).toEqual({
      title: 'The reactor reported an error.',
      code: 'reactor_error',
      status,
      detail,
      errors: { error: ['why'] },
    });
  });

  it.each([
    [402, 402],
    [200, 500],
    [600, 500],
    [undefined, 500],
  ])(
    'is answered with the status of a CustomHttpResponseError from 400: %s is %d',
    async (status, answered) => {
      const error = { name: 'CustomHttpResponseError', message: '', body: { reason: 'x' } };
      const problem = await threw({ ...error, ...(status === undefined ? {} : { status }) });
      expect(problem.status).toBe(answered);
      expect(problem.errors).toEqual({ body: ['{"reason":"x"}'] });
    },
  );

  it('has its place in the code, if the code has one', async () => {
    const error = { name: 'Error', message: 'why', line: 3, column: 9 };
    const body = {
      title: 'The reactor reported an error.',
      code: 'reactor_error',
      status: 500,
      detail: 'Reactor Runtime Error',
      errors: { error: ['why'] },
      position: { line: 3, column: 9 },
    };
    expect((await threw(error)).body()).toEqual(body);
    const custom = { ...error, name: 'CustomHttpResponseError', status: 402 };
    expect((await threw(custom)).position).toEqual({ line: 3, column: 9 });
    const { column: _, ...lineOnly } = error;
    expect((await threw(lineOnly)).body()).not.toHaveProperty('position');
    const invalid = await problemOf({ kind: 'invalid_code', error });
    expect(invalid.body()).toMatchObject({ code: 'invalid_code', position: body.position });
    expect((await problemOf({ kind: 'timed_out' })).body()).not.toHaveProperty('position');
  });

  it('shows no value that the run knew, and at most 1,000 characters', async () => {
    const message = 'declined 4242424242424242, a long secret, 987654 of 123';
    expect((await threw({ name: 'Error', message })).errors).toEqual({
      error: ['declined [redacted], [redacted], [redacted] of [redacted]'],
    });
    const custom = {
      name: 'CustomHttpResponseError',
      message: '',
      body: { n: '4242424242424242' },
    };
    expect(JSON.stringify((await threw(custom)).body())).not.toContain('4242');
    const cut = await threw({ name: 'Error', message: `${'x'.repeat(900)} 42424242424` });
    expect(cut.errors?.error?.[0]).toBe(`${'x'.repeat(900)} [redacted]`);
    const long = await threw({ name: 'Error', message: 'x'.repeat(5_000) });
    expect(long.errors?.error?.[0]).toHaveLength(1_000);
  });
});

it.each<[RunOutcome, number, string]>([
  [{ kind: 'timed_out' }, 504, 'reactor_timeout'],
  [{ kind: 'no_capacity' }, 503, 'no_capacity'],
  [{ kind: 'died', reason: 'memory' }, 500, 'reactor_crashed'],
  [{ kind: 'invalid_result', reason: 'circular' }, 500, 'invalid_reactor_result'],
  [{ kind: 'invalid_code', error: { name: 'Error', message: 'no function' } }, 422, 'invalid_code'],
])('the outcome %j has a problem of its own', async (outcome, status, code) => {
  expect(await problemOf(outcome)).toMatchObject({ status, code });
});

describe('the limit that a run met is named', () => {
  const memory = { runtime: 'node20', megabytes: 384 } as const;
  const transform: Partial<Ran> = { what: 'request transform' };

  it.each<[string, RunOutcome, Partial<Ran>, string]>([
    [
      'time of a sync run',
      { kind: 'timed_out' },
      {},
      'The reactor ran longer than 10 s; with callback_url up to 210 s.',
    ],
    [
      'a time that the operator set',
      { kind: 'timed_out' },
      { timeoutMs: 1_500 },
      'The reactor ran longer than 1.5 s; with callback_url up to 210 s.',
    ],
    [
      'time of an async run',
      { kind: 'timed_out' },
      { isAsync: true, timeoutMs: 20_000 },
      'The reactor ran longer than 20 s, its timeout_ms; up to 210 s.',
    ],
    [
      'the longest time of all',
      { kind: 'timed_out' },
      { isAsync: true, timeoutMs: 210_000 },
      'The reactor ran longer than 210 s, its timeout_ms.',
    ],
    [
      'time of a transform',
      { kind: 'timed_out' },
      transform,
      'The request transform ran longer than 10 s.',
    ],
    [
      'memory',
      { kind: 'died', reason: 'SIGABRT', memory },
      {},
      'The reactor used more than 384 MB of memory, or more than half of that for objects.',
    ],
    [
      'memory, as a monitor reports it',
      { kind: 'died', reason: 'exit 133', memory },
      transform,
      'The request transform used more than 384 MB of memory, or more than half of that for objects.',
    ],
    [
      'memory, as process 1 ends without it',
      { kind: 'died', reason: 'exit 139', memory },
      {},
      'The reactor used more than 384 MB of memory, or more than half of that for objects.',
    ],
    [
      'none, but a process that ended by itself',
      { kind: 'died', reason: 'exit 7', memory },
      {},
      'The process of the reactor ended (exit 7). On node20 it may have 384 MB of memory.',
    ],
    [
      'a call of the system',
      { kind: 'died', reason: 'SIGSYS', memory },
      {},
      'The reactor asked the system for what no sandbox may do.',
    ],
    [
      'the protocol',
      { kind: 'died', reason: 'protocol violation: p4ssw0rd' },
      {},
      'The reactor broke the protocol of its sandbox.',
    ],
    [
      'unread answers',
      { kind: 'died', reason: 'does not read its channel' },
      {},
      'The reactor was sent more than it read. It must not block while answers come in.',
    ],
    [
      'none of its own',
      { kind: 'died', reason: 'runner connection lost' },
      {},
      'The process of the reactor was ended from outside.',
    ],
  ])('%s', async (_, outcome, ran, detail) => {
    expect(await problemOf(outcome, { ...aReactor, ...ran })).toMatchObject({ detail });
  });
});

describe('an error that many make comes with advice', () => {
  const missing = (name: string) => ({ name: 'ReferenceError', message: `${name} is not defined` });
  const ofNull = {
    name: 'TypeError',
    message: `Cannot read properties of null (reading 'tokens')`,
  };

  it.each<[object, Partial<Ran>, string]>([
    [missing('fetch'), { runtime: 'node16' }, ' fetch needs runtime node20 or newer.'],
    [missing('WebSocket'), { runtime: 'node20' }, ' WebSocket needs runtime node22 or newer.'],
    [missing('fetch'), { runtime: 'node20' }, ''],
    [missing('p4ssw0rd'), { runtime: 'node16' }, ''],
    [missing('constructor'), { runtime: 'node16' }, ''],
    [ofNull, { hasSvc: false }, ' svc is null: the reactor has no application.'],
    [
      ofNull,
      { hasSvc: false, what: 'response transform' },
      ' svc is null: the proxy has no application.',
    ],
    [
      { ...ofNull, message: `Cannot destructure property 'a' of 'req.svc' as it is null.` },
      { hasSvc: false },
      ' svc is null: the reactor has no application.',
    ],
    [ofNull, { hasSvc: true }, ''],
    [
      { ...ofNull, message: `Cannot read properties of null (reading 'card')` },
      { hasSvc: false },
      '',
    ],
    [
      { name: 'TypeError', message: 'x', code: 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING' },
      {},
      ' import() is not available. Use require.',
    ],
    [
      { name: 'RangeError', message: 'Array buffer allocation failed' },
      {},
      ' The reactor had no memory left.',
    ],
  ])('%j with %j', async (error, ran, advice) => {
    const { detail } = await threw(error as Parameters<typeof threw>[0], ran);
    expect(detail).toBe(`Reactor Runtime Error${advice === '' ? '' : '.'}${advice}`);
  });
});

it('an answer that a reactor throws is a crash: only transforms may', async () => {
  expect(await problemOf({ kind: 'answered', value: {} })).toMatchObject({
    code: 'reactor_crashed',
  });
});

it('arguments that no frame can hold are too large: 413 names the kind of code', async () => {
  const refused = returnedValue({ kind: 'args_too_large' }, redact, {
    ...aReactor,
    what: 'request transform',
  });
  await expect(refused).rejects.toMatchObject({
    code: 'payload_too_large',
    detail: 'It is too large for the request transform.',
  });
});
