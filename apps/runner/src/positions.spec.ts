import { specRuntimes, startSpecRunner, type SpecRunner } from './spec-runner';

let runner: SpecRunner;
beforeAll(async () => {
  runner = await startSpecRunner();
});
afterAll(() => runner.stop());

/** The place of `HERE` in the code, which is taken out of it. */
function marked(code: string): { code: string; line: number; column: number } {
  const before = code.slice(0, code.indexOf('HERE')).split('\n');
  return {
    code: code.replace('HERE', ''),
    line: before.length,
    column: (before.at(-1) ?? '').length + 1,
  };
}

const refusing = {
  onCall: () => Promise.reject(Object.assign(new Error('Forbidden'), { status: 403 })),
};

describe.each(specRuntimes)('the place of an error on %s', (runtime) => {
  const thrownBy = async (code: string) => {
    const outcome = await runner.run(code, { runtime, svc: true, timeoutMs: 5_000 }, refusing);
    if (outcome.kind !== 'threw' && outcome.kind !== 'invalid_code') throw new Error(outcome.kind);
    return outcome.error;
  };

  it.each([
    ['in the first line', `module.exports = () => { throw HEREnew Error('a') }`],
    ['in a later line', `module.exports = () => {\n\n  throw HEREnew TypeError('a\\nb');\n}`],
    ['at load', `const a = 1;\nthrow HEREnew Error('a');`],
    [
      'by a function that is called',
      `const f = () => { throw HEREnew Error() };\nmodule.exports = () => f();`,
    ],
    ['by a member of nothing', `module.exports = ({ args }) => {\n  return args.a.HEREb;\n};`],
    ['by a module of Node.js', `module.exports = () => {\n  JSON.HEREparse('{');\n};`],
    [
      'after an await',
      `module.exports = async () => {\n  await null;\n  throw HEREnew Error('a');\n};`,
    ],
    [
      'after an await in a function that is awaited',
      `const f = async () => {\n  await null;\n  throw HEREnew Error();\n};\nmodule.exports = async () => {\n  await f();\n};`,
    ],
    [
      'in a timer',
      `module.exports = () => new Promise(() => setTimeout(() => {\n  throw HEREnew Error();\n}));`,
    ],
    [
      'in a rejection that nobody handles',
      `module.exports = () => {\n  Promise.reject(HEREnew Error());\n  return new Promise(() => {});\n};`,
    ],
    [
      'by a class of errors',
      `const { BadRequestError } = require('@svc/reactor-errors');\nmodule.exports = () => {\n  throw HEREnew BadRequestError('a');\n};`,
    ],
    [
      'by an answer that a reactor throws',
      `const E = require('@svc/reactor-errors');\nmodule.exports = () => {\n  throw HEREnew E.CustomHttpResponseError({ status: 418 });\n};`,
    ],
    [
      'by a copy of a class',
      `class BadRequestError extends Error {}\nmodule.exports = () => {\n  throw HEREnew BadRequestError('a');\n};`,
    ],
    ['by a call of svc', `module.exports = async ({ svc }) => {\n  HEREawait svc.tokenize(1);\n};`],
    [
      'by one of many calls of svc',
      `module.exports = async ({ svc }) => {\n  HEREawait Promise.all([svc.tokenize(1), svc.tokenize(2)]);\n};`,
    ],
    ['by a missing module', `module.exports = () => {\n  HERErequire('fs');\n};`],
    ['by a missing module at load', `const a = 1;\nconst b = HERErequire('fs');`],
    ['in code of the code', `module.exports = () => {\n  HEREeval('null.a');\n};`],
    ['by code that does not compile', `module.exports = () => {\n\tconst HERE= 1;\n};`],
    [
      'with the stack of another error in its message',
      `const inner = new Error('a');\nmodule.exports = () => {\n  throw HEREnew Error(inner.stack);\n};`,
    ],
    [
      'with a message of ten megabytes',
      `module.exports = () => {\n  throw HEREnew Error('at '.repeat(4e6));\n};`,
    ],
    [
      'once its stack was logged',
      `module.exports = () => {\n  const error = HEREnew Error('a');\n  console.error(error);\n  throw error;\n};`,
    ],
    [
      'beside a formatter of stacks that throws',
      `Error.prepareStackTrace = () => { throw 1 };\nmodule.exports = () => {\n  throw HEREnew Error('a');\n};`,
    ],
    [
      'beside one that makes something else',
      `Error.prepareStackTrace = (error, sites) => sites;\nmodule.exports = () => {\n  throw HEREnew Error('a');\n};`,
    ],
  ])('is known when it was made %s', async (_, text) => {
    const { code, line, column } = marked(text);
    const error = await thrownBy(code);
    if (text.includes('HEREawait')) {
      // The place of a call, or of the await before it.
      expect(error).toMatchObject({ line, column: expect.any(Number) as number });
    } else expect(error).toMatchObject({ line, column });
  });

  it.each([
    ['a text', `throw 'a'`],
    ['an object', `throw { name: 'BadRequestError', errors: 'a', line: 7, column: 7 }`],
    ['an error without a stack', `const e = new Error('a'); delete e.stack; throw e`],
    ['an error whose stack is no text', `throw Object.assign(new Error('a'), { stack: { a: 1 } })`],
    [
      'an error whose stack throws',
      `throw Object.defineProperty(new Error('a'), 'stack', { get() { throw 1 } })`,
    ],
    [
      'an error with a stack of ten megabytes',
      `throw Object.assign(new Error('a'), { stack: '(reactor.js:1'.repeat(1e6) })`,
    ],
    [
      'an error with a stack of many lines',
      `throw Object.assign(new Error('a'), { stack: '    at (((((((reactor.js:1:\\n'.repeat(4e5) })`,
    ],
    [
      'an error at a place that is too far',
      `throw Object.assign(new Error('a'), { stack: 'Error: a\\n    at f (reactor.js:9999999:1)' })`,
    ],
    ['an error whose stack has no frames', `Error.stackTraceLimit = 0; throw new Error('a')`],
    ['a proxy that throws', `throw new Proxy(new Error('a'), { get() { throw 1 } })`],
    [
      'an error where regular expressions do not work',
      `RegExp.prototype.exec = () => { throw 1 }; throw new Error('a')`,
    ],
  ])('is unknown, and nothing else is lost, for %s', async (_, throwing) => {
    const error = await thrownBy(`module.exports = () => { ${throwing} }`);
    expect(error).not.toHaveProperty('line');
    expect(error).not.toHaveProperty('column');
  });

  const stackOf = async (code: string) => {
    const { stack = [] } = await thrownBy(code);
    return stack.map(({ function: name, line }) => [name, line]);
  };

  it('comes with the calls in the code that led there, and with no other', async () => {
    expect(
      await stackOf(`class Card { charge() { return JSON.parse('{') } }
        const pay = () => new Card().charge();
        const each = () => [1].map(pay);
        module.exports = async function run() {
          await null;
          each();
        }`),
    ).toEqual([
      ['Card.charge', 1],
      ['pay', 2],
      [expect.any(String), 3],
      ['run', 6],
    ]);
  });

  it.each([
    [
      'recursion, all of it in the stack',
      'Error.stackTraceLimit = 1e6; const f = (n) => f(n + 1) + 1; f(0)',
    ],
    [
      'a formatter of stacks',
      'Error.prepareStackTrace = () => { throw 1 }; const f = (n) => { if (n > 99) throw new Error(); f(n + 1) }; Error.stackTraceLimit = 99; f(0)',
    ],
    [
      'a stack that the code made',
      `throw Object.assign(new Error('a'), { stack: 'Error: a\\n' + '    at f (reactor.js:1:1)\\n'.repeat(1e6) })`,
    ],
    [
      'an exec that finds something for ever',
      `const [found] = [/a/.exec('a')]; RegExp.prototype.exec = () => Object.assign(found, ['', 'f', '1', '1']); throw new Error('a')`,
    ],
  ])('has at most 20 calls with %s', async (_, throwing) => {
    const frames = await stackOf(`module.exports = () => { ${throwing} }`);
    expect(frames).toHaveLength(20);
    expect(frames.at(-1)).toEqual(['f', 1]);
  });

  it('names no function by anything but a short name', async () => {
    expect(
      await stackOf(
        `module.exports = () => { throw Object.assign(new Error('a'), { stack: 'Error: a\\n    at ' + 'x'.repeat(61) + ' (reactor.js:1:1)\\n    at a"b (reactor.js:2:1)\\n    at new A (reactor.js:3:1)' }) }`,
      ),
    ).toEqual([
      [undefined, 1],
      [undefined, 2],
      ['new A', 3],
    ]);
  });

  it('is unknown for a result that cannot be used, and for code that has no such place', async () => {
    expect(await runner.run('module.exports = () => 1', { runtime })).toEqual({
      kind: 'invalid_result',
      reason: 'not_an_object',
    });
    for (const code of ['module.exports = 1', 'module.exports = (']) {
      expect(await thrownBy(code)).not.toHaveProperty('line');
    }
  });
});
