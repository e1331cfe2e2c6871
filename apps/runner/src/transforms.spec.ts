import type { RunOutcome } from '@glovebox/sandbox';
import { startSpecRunner, type SpecRunner } from './spec-runner';

let runner: SpecRunner;

beforeAll(async () => {
  runner = await startSpecRunner();
});
afterAll(() => runner.stop());

const run = (body: string, headers = {}): Promise<RunOutcome> =>
  runner.run(`module.exports = async ({ args: { headers, ...args } }) => { ${body} };`, {
    kind: 'transform',
    args: { headers },
  });

const raw = (value: string, headers = {}): Promise<RunOutcome> =>
  run(`return { raw: ${value} };`, headers);

describe('the headers that a transform sees', () => {
  const headers = { 'content-type': 'text/plain', 'x-one': '1' };

  it.each([
    [
      'are found under any spelling',
      `headers['Content-Type'] + headers['CONTENT-TYPE']`,
      'text/plain'.repeat(2),
    ],
    ['are undefined where they are missing', `String(headers['X-Two'])`, 'undefined'],
    [
      'are known to `in` and hasOwnProperty under any spelling',
      `['X-ONE' in headers, headers.hasOwnProperty('X-One')]`,
      [true, true],
    ],
    ['have lower-case names in a spread and in JSON', `{ ...headers }`, headers],
    ['are listed in lower case', `Object.keys(headers)`, Object.keys(headers)],
    [
      'are replaced under any spelling',
      `(headers['X-One'] = '2', { ...headers })`,
      { ...headers, 'x-one': '2' },
    ],
    [
      'are deleted under any spelling',
      `(delete headers['X-ONE'], { ...headers })`,
      { 'content-type': 'text/plain' },
    ],
    [
      'are assigned by Object.assign under any spelling',
      `Object.assign(headers, { 'X-One': '3' })['x-one']`,
      '3',
    ],
  ])('%s', async (_, expression, expected) => {
    expect(await raw(expression, headers)).toEqual({ kind: 'returned', value: { raw: expected } });
  });

  it('may have names of members of every object', async () => {
    const odd = JSON.parse('{"__proto__":"a","constructor":"b","hasownproperty":"c"}') as object;
    expect(await raw(`JSON.parse(JSON.stringify(headers))`, odd)).toEqual({
      kind: 'returned',
      value: { raw: odd },
    });
  });

  it('are found by any spelling in transforms alone: a reactor gets plain arguments', async () => {
    const code = `module.exports = ({ args }) => ({ raw: String(args.headers['X-One']) })`;
    expect(await runner.run(code, { args: { headers } })).toEqual({
      kind: 'returned',
      value: { raw: 'undefined' },
    });
  });
});

describe('an answer that a transform throws', () => {
  const thrown = `const { CustomHttpResponseError } = require('@svc/reactor-errors');`;

  it('arrives whole', async () => {
    const answer = { status: 201, headers: { 'X-Mine': 'yes' }, body: { text: 'x'.repeat(5_000) } };
    const outcome = await run(
      `${thrown} throw new CustomHttpResponseError(${JSON.stringify(answer)})`,
    );
    expect(outcome).toEqual({ kind: 'answered', value: answer });
  });

  it.each([
    ['refers to itself', 'const a = {}; a.a = a;', 'a', 'circular'],
    ['is too large', `const a = 'x'.repeat(2 * 1024 * 1024);`, 'a', 'too_large'],
    ['has a BigInt', '', '1n', 'not_serialisable'],
  ])('is invalid when it %s', async (_, before, body, reason) => {
    const code = `${thrown} ${before} throw new CustomHttpResponseError({ status: 200, body: ${body} })`;
    expect(await run(code)).toEqual({ kind: 'invalid_result', reason });
  });

  it('is an ordinary error when it has a getter that throws', async () => {
    const code = `${thrown} throw Object.defineProperty(new CustomHttpResponseError(), 'body', { get() { throw 1 } })`;
    expect(await run(code)).toMatchObject({ kind: 'threw' });
  });

  it('is an ordinary error when a reactor throws it', async () => {
    const code = `${thrown} module.exports = () => { throw new CustomHttpResponseError({ status: 402 }) }`;
    expect(await runner.run(code)).toMatchObject({ kind: 'threw', error: { status: 402 } });
  });
});
