import type { Problem } from '@glovebox/problems';
import type { RunOutcome } from '@glovebox/sandbox';
import { returnedValue } from './reactor-response';
import { redactorOf } from './redact';
import { knowing } from './spec-known';

const secrets = [{ number: '4242424242424242', cvc: '123' }, 'a long secret', 987654];
const redact = redactorOf(knowing(secrets));

async function problemOf(outcome: RunOutcome): Promise<Problem> {
  try {
    await returnedValue(outcome, redact);
  } catch (error) {
    return error as Problem;
  }
  throw new Error('nothing was thrown');
}
const threw = (error: Extract<RunOutcome, { kind: 'threw' }>['error']): Promise<Problem> =>
  problemOf({ kind: 'threw', error });

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

it('a process that ended by itself is a crash, and its memory is named', async () => {
  const memory = { runtime: 'node20', megabytes: 384 } as const;
  expect(await problemOf({ kind: 'died', reason: 'SIGABRT', memory })).toMatchObject({
    code: 'reactor_crashed',
    detail: 'The process of the reactor ended. On node20 it may have 384 MB of memory.',
  });
});

it('an answer that a reactor throws is a crash: only transforms may', async () => {
  expect(await problemOf({ kind: 'answered', value: {} })).toMatchObject({
    code: 'reactor_crashed',
  });
});

it('arguments that no frame can hold are too large: 413 names the kind of code', async () => {
  const refused = returnedValue({ kind: 'args_too_large' }, redact, 'request transform');
  await expect(refused).rejects.toMatchObject({
    code: 'payload_too_large',
    detail: 'It is too large for the request transform.',
  });
});
