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
      'any spelling finds one',
      `headers['Content-Type'] + headers['CONTENT-TYPE']`,
      'text/plain'.repeat(2),
    ],
    ['one that is not there is undefined', `String(headers['X-Two'])`, 'undefined'],
    [
      '`in` and hasOwnProperty know any spelling',
      `['X-ONE' in headers, headers.hasOwnProperty('X-One')]`,
      [true, true],
    ],
    ['a spread and JSON have the names in lower case', `{ ...headers }`, headers],
    ['names are listed in lower case', `Object.keys(headers)`, Object.keys(headers)],
    [
      'setting one replaces it under any spelling',
      `(headers['X-One'] = '2', { ...headers })`,
      { ...headers, 'x-one': '2' },
    ],
    [
      'one is deleted under any spelling',
      `(delete headers['X-ONE'], { ...headers })`,
      { 'content-type': 'text/plain' },
    ],
    [
      'Object.assign works under any spelling',
      `Object.assign(headers, { 'X-One': '3' })['x-one']`,
      '3',
    ],
  ])('%s', async (_, expression, expected) => {
    expect(await raw(expression, headers)).toEqual({ kind: 'returned', value: { raw: expected } });
  });

  it('may have the names of what objects have', async () => {
    const odd = JSON.parse('{"__proto__":"a","constructor":"b","hasownproperty":"c"}') as object;
    expect(await raw(`JSON.parse(JSON.stringify(headers))`, odd)).toEqual({
      kind: 'returned',
      value: { raw: odd },
    });
  });

  it('of a reactor are what its caller sent', async () => {
    const code = `module.exports = ({ args }) => ({ raw: String(args.headers['X-One']) })`;
    expect(await runner.run(code, { args: { headers } })).toEqual({
      kind: 'returned',
      value: { raw: 'undefined' },
    });
  });
});

describe('an answer that a transform throws', () => {
  const thrown = `const { CustomHttpResponseError } = require('@svc/reactor-errors');`;

  it('comes whole', async () => {
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
  ])('and %s is invalid', async (_, before, body, reason) => {
    const code = `${thrown} ${before} throw new CustomHttpResponseError({ status: 200, body: ${body} })`;
    expect(await run(code)).toEqual({ kind: 'invalid_result', reason });
  });

  it('is an error like others when it has a getter that throws', async () => {
    const code = `${thrown} throw Object.defineProperty(new CustomHttpResponseError(), 'body', { get() { throw 1 } })`;
    expect(await run(code)).toMatchObject({ kind: 'threw' });
  });

  it('of a reactor is an error', async () => {
    const code = `${thrown} module.exports = () => { throw new CustomHttpResponseError({ status: 402 }) }`;
    expect(await runner.run(code)).toMatchObject({ kind: 'threw', error: { status: 402 } });
  });
});
