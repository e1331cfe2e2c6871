import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { builtinModules as nodeModules } from 'node:module';
import { join } from 'node:path';
import tls from 'node:tls';
import { builtinModules, createRunnerClient, type Runtime } from '@glovebox/sandbox';
import { fastest } from '@glovebox/testing';
import { runHoweverBusy, specRuntimes, startSpecRunner, type SpecRunner } from './spec-runner';

let runner: SpecRunner;
/** All bytes that left through the dialer. */
const sent: Buffer[] = [];
const owners = new Set<string>();
beforeAll(async () => {
  runner = await startSpecRunner({}, async ({ owner, host, port }) => {
    owners.add(owner);
    if (host === 'refused.example') throw Object.assign(new Error('no'), { code: 'EACCES' });
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const write = socket.write.bind(socket);
    socket.write = (data: Buffer, ...rest: never[]) => {
      sent.push(data);
      return write(data, ...rest);
    };
    return socket;
  });
});
afterAll(() => runner.stop());

function pinnedVersion(runtime: Runtime): string | undefined {
  const file = join(__dirname, '../runtimes', runtime, 'package.json');
  const { optionalDependencies } = JSON.parse(readFileSync(file, 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  return optionalDependencies[process.arch]?.split('@').at(-1);
}

describe.each(specRuntimes)('a run on %s', (runtime) => {
  it('gives its arguments and its configuration to the function, and returns its object', async () => {
    const outcome = await runner.run(
      'module.exports = async (req) => ({ sum: req.args.a + req.args.b, c: req.configuration.c, v: process.version })',
      { runtime, args: { a: 19, b: 23 }, configuration: { c: 'x' } },
    );
    const v = `v${pinnedVersion(runtime)}`;
    expect(outcome).toEqual({ kind: 'returned', value: { sum: 42, c: 'x', v } });
  });

  it('keeps what its module holds for the next run, with isolation "warm" alone', async () => {
    const counting = `let runs = 0; globalThis.runs ??= 0;
      module.exports = () => ({ runs: [runs += 1, globalThis.runs += 1]})`;
    const runOf = async (more: object): Promise<unknown> => {
      const outcome = await runner.run(counting, { runtime, resourceId: 'counting', ...more });
      return outcome.kind === 'returned' ? (outcome.value as { runs: unknown }).runs : outcome;
    };
    expect([await runOf({}), await runOf({ args: 'others' })]).toEqual([
      [1, 1],
      [2, 2],
    ]);
    for (const other of [
      { tenantId: 'other' },
      { resourceId: 'other' },
      { applicationId: 'other' },
    ])
      expect(await runOf(other)).toEqual([1, 1]);
    for (let runs = 0; runs < 3; runs += 1) {
      expect(await runOf({ isolation: 'run', resourceId: 'alone' })).toEqual([1, 1]);
    }
    expect(await runOf({})).toEqual([3, 3]);
  });

  it('ends an endless loop soon after its limit', async () => {
    const code = 'module.exports = ({ args }) => { while (args.loop); return {} }';
    expect(await runner.run(code, { runtime })).toMatchObject({ kind: 'returned' });
    const loopMs = async (): Promise<number> => {
      const startedAt = performance.now();
      const asked = { runtime, timeoutMs: 300, args: { loop: true } };
      const outcome = await runHoweverBusy(runner, code, asked);
      expect(outcome).toEqual({ kind: 'timed_out' });
      return performance.now() - startedAt;
    };
    expect(await fastest(2_000, loopMs)).toBeLessThan(2_000);
  });

  it('times out when its function never settles, and when its code loops while it loads', async () => {
    const asked = { runtime, timeoutMs: 200 };
    const unsettled = 'module.exports = () => new Promise(() => {})';
    const never = runHoweverBusy(runner, unsettled, asked);
    const loading = runHoweverBusy(runner, 'for (;;);', asked);
    expect(await never).toEqual({ kind: 'timed_out' });
    expect(await loading).toEqual({ kind: 'timed_out' });
  });

  it('carries HTTP over the channel to the hosts that the dialer allows', async () => {
    const body = 'x'.repeat(1_000_000);
    const server = http.createServer((req, res) => {
      let received = 0;
      req.on('data', (chunk: Buffer) => (received += chunk.length));
      req.on('end', () => res.end(JSON.stringify({ received, host: req.headers.host, body })));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const code = `
      const http = require('http');
      const agent = new http.Agent({ keepAlive: true });
      const post = (host, port, size) => new Promise((resolve, reject) => {
        const req = http.request({ host, port, method: 'POST', agent }, (res) => {
          let text = '';
          res.setEncoding('utf8').on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text)));
        });
        req.on('error', reject).end('y'.repeat(size));
      });
      module.exports = async ({ args }) => {
        const sizes = [];
        for (const size of [0, 10, 3000000]) {
          const { received, host, body } = await post('service.example', args.port, size);
          sizes.push([received, host, body.length]);
        }
        const refused = await post('refused.example', 443, 1).catch((error) => error.code);
        return { sizes, refused };
      }`;
    const outcome = await runner.run(code, { runtime, args: { port } });
    const host = `service.example:${port}`;
    expect(outcome).toEqual({
      kind: 'returned',
      value: {
        sizes: [0, 10, 3_000_000].map((received) => [received, host, body.length]),
        refused: 'ECONNREFUSED',
      },
    });
    expect([...owners]).toEqual(['tenant']);
    server.closeAllConnections();
    server.close();
  });
});

describe('without a policy of the operator', () => {
  it.each([
    ['the machine itself', '127.0.0.1'],
    ['its name', 'localhost'],
    ['the metadata service', '169.254.169.254'],
    ['a private network', '10.0.0.1'],
    ['a socket file', '/tmp/any.sock'],
  ])('code cannot connect to %s', async (_, host) => {
    const strict = await startSpecRunner();
    const target = host.startsWith('/') ? `'${host}'` : `443, '${host}'`;
    const code = `module.exports = () => new Promise((resolve) => require('net').connect(${target})
      .on('connect', () => resolve({ code: 'connected' })).on('error', ({ code }) => resolve({ code })))`;
    const refused = host.startsWith('/') ? 'EACCES' : 'ECONNREFUSED';
    expect(await strict.run(code)).toMatchObject({ value: { code: refused } });
    await strict.stop();
  });
});

describe.each(specRuntimes)('TLS on %s', (runtime) => {
  it('is spoken inside the sandbox: the runner carries ciphertext only', async () => {
    sent.length = 0;
    // A shared key needs no certificate that expires, and no secret in the repository.
    const ciphers = 'PSK-AES128-GCM-SHA256';
    const server = tls.createServer(
      { ciphers, maxVersion: 'TLSv1.2', pskCallback: () => Buffer.alloc(16, 7) },
      (socket) => socket.on('error', () => undefined).end('a secret greeting'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const code = `const tls = require('tls');
      module.exports = ({ args }) => new Promise((resolve, reject) => {
        const socket = tls.connect({
          host: 'tls.example', port: args.port, ciphers: '${ciphers}', maxVersion: 'TLSv1.2',
          pskCallback: () => ({ psk: Buffer.alloc(16, 7), identity: 'spec' }),
          checkServerIdentity: () => undefined,
        });
        let text = '';
        socket.on('secureConnect', () => socket.write('a secret question'));
        socket.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ text })).on('error', reject);
      });`;
    const { port } = server.address() as AddressInfo;
    expect(await runner.run(code, { runtime, args: { port } })).toEqual({
      kind: 'returned',
      value: { text: 'a secret greeting' },
    });
    expect(Buffer.concat(sent).toString('latin1')).toContain('tls.example');
    expect(Buffer.concat(sent).toString('latin1')).not.toContain('secret question');
    server.close();
  });
});

const nestedBy = (depth: number): string =>
  `((depth) => { let a = {}; while (depth-- > 0) a = { a }; return a })(${depth})`;

describe('the result of a function', () => {
  it('may be absent', async () => {
    expect(await runner.run('module.exports = () => {}')).toEqual({
      kind: 'returned',
      value: undefined,
    });
  });

  it.each([
    ['a number', '5', 'not_an_object'],
    ['null', 'null', 'not_an_object'],
    ['an array', '[1]', 'not_an_object'],
    ['a date', 'new Date()', 'not_an_object'],
    ['a circular object', '(() => { const a = {}; a.a = a; return a })()', 'circular'],
    ['a BigInt', '({ a: 1n })', 'not_serialisable'],
    ['too large', '({ a: "x".repeat(2 ** 20) })', 'too_large'],
    ['nested too deeply', nestedBy(100), 'not_serialisable'],
    ['nested beyond any stack', nestedBy(20_000), 'not_serialisable'],
  ])('is refused when it is %s', async (_, expression, reason) => {
    const outcome = await runner.run(`module.exports = async () => ${expression}`);
    expect(outcome).toEqual({ kind: 'invalid_result', reason });
  });
});

describe('an error that a function throws', () => {
  const throwing = (expression: string): string =>
    `const E = require('@svc/reactor-errors'); module.exports = async () => { throw ${expression} }`;

  it.each([
    'BadRequestError',
    'InvalidReactorConfigurationError',
    'AuthenticationError',
    'InvalidPaymentMethodError',
    'AuthorizationError',
    'RateLimitError',
    'ReactorRuntimeError',
    'ServiceUnavailableError',
  ])('keeps its class, %s, and its argument as lists', async (name) => {
    const outcome = await runner.run(throwing(`new E.${name}({ a: 'x', b: ['y', 1] })`));
    expect(outcome).toMatchObject({
      kind: 'threw',
      error: { name, errors: { a: ['x'], b: ['y', '1'] } },
    });
  });

  it.each([
    ['a string', '"no"', { error: ['no'] }],
    ['an array', '["a", "b"]', { error: ['a', 'b'] }],
    ['an error', 'new Error("inner")', { error: ['inner'] }],
    ['nothing', '', {}],
  ])('turns an argument that is %s into lists of texts', async (_, argument, errors) => {
    const outcome = await runner.run(throwing(`new E.BadRequestError(${argument})`));
    expect(outcome).toMatchObject({ kind: 'threw', error: { errors } });
  });

  it.each([
    ['extends one', 'class Declined extends E.RateLimitError {}; return new Declined("a")'],
    [
      'extends one of these',
      'class A extends E.RateLimitError {}; class B extends A {}; return new B("a")',
    ],
  ])('has the class of ours that its class %s', async (_, code) => {
    const outcome = await runner.run(throwing(`(() => { ${code} })()`));
    expect(outcome).toMatchObject({ error: { name: 'RateLimitError', errors: { error: ['a'] } } });
  });

  it.each([
    ['the name of a method of objects', '({ name: "toString", message: "a" })', 'toString'],
    [
      'ancestors without end',
      '(() => { const endless = () => new Proxy({ message: "a" }, { getPrototypeOf: endless }); return endless() })()',
      'Error',
    ],
  ])('has no class of ours with %s', async (_, expression, name) => {
    const outcome = await runner.run(throwing(expression));
    expect(outcome).toEqual({ kind: 'threw', error: { name, message: 'a' } });
  });

  it.each([
    ['refers to itself', '(() => { const a = {}; a.a = a; return a })()'],
    ['holds a BigInt', '{ n: 1n }'],
    ['throws when it is read', '{ get n() { throw new Error() } }'],
  ])('keeps its class and its other texts where a member %s', async (_, member) => {
    const outcome = await runner.run(throwing(`new E.BadRequestError({ a: ${member}, b: 'x' })`));
    expect(outcome).toMatchObject({
      kind: 'threw',
      error: { name: 'BadRequestError', errors: { a: [''], b: ['x'] }, line: 1 },
    });
  });

  it('is recognised by shape, also from a copy of the class and under the other module name', async () => {
    const own =
      'module.exports = () => { throw Object.assign(new Error(), { name: "RateLimitError", errors: "slow" }) }';
    expect(await runner.run(own)).toMatchObject({
      kind: 'threw',
      error: { name: 'RateLimitError', errors: { error: ['slow'] } },
    });
    const alias = `const E = require('@basis-theory/basis-theory-reactor-formulas-sdk-js');
      module.exports = () => { throw new E.AuthenticationError() }`;
    expect(await runner.run(alias)).toMatchObject({ error: { name: 'AuthenticationError' } });
  });

  it('keeps status, headers and body of a CustomHttpResponseError', async () => {
    const outcome = await runner.run(
      throwing(
        'new E.CustomHttpResponseError({ status: 418, headers: { "X-A": 1 }, body: { a: [1] } })',
      ),
    );
    expect(outcome).toMatchObject({
      kind: 'threw',
      error: {
        name: 'CustomHttpResponseError',
        status: 418,
        headers: { 'X-A': '1' },
        body: { a: [1] },
      },
    });
  });

  it.each([
    ['nested too deeply', nestedBy(100), 'not_serialisable'],
    ['nested beyond any stack', nestedBy(5_000), 'not_serialisable'],
    ['circular', '(() => { const a = {}; a.a = a; return a })()', 'not_serialisable'],
    ['too large', '"x".repeat(2 ** 20)', 'too_large'],
  ])('is refused when its body is %s, in a run and while loading', async (_, body, reason) => {
    const error = `new E.CustomHttpResponseError({ body: ${body} })`;
    for (const runtime of specRuntimes) {
      const refused = { kind: 'invalid_result', reason };
      expect(await runner.run(throwing(error), { runtime })).toEqual(refused);
      const atLoad = `const E = require('@svc/reactor-errors'); throw ${error}`;
      expect(await runner.run(atLoad, { runtime })).toEqual(refused);
    }
  });

  it('is shown with at most 50 texts of 1,000 characters each', async () => {
    const long = await runner.run(throwing('new Error("x".repeat(5000))'));
    expect(long).toMatchObject({
      kind: 'threw',
      error: { name: 'Error', message: 'x'.repeat(1_000) },
    });
    for (const argument of [
      'Array(200).fill("y".repeat(3000))',
      'Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`n${i}`, "y".repeat(3000)]))',
      '{ a: Array(30).fill("y".repeat(3000)), b: Array(30).fill("y".repeat(3000)) }',
    ]) {
      const outcome = await runner.run(throwing(`new E.BadRequestError(${argument})`));
      const lists = outcome.kind === 'threw' ? Object.values(outcome.error.errors ?? {}) : [];
      expect(lists.flat()).toEqual(Array(50).fill('y'.repeat(1_000)));
    }
  });

  it('leaves the sandbox with 1,000 characters of its body and of each of 50 headers', async () => {
    const headers = 'Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`n${n}`, text]))';
    for (const [body, cut] of [
      ['text', 'y'.repeat(1_000)],
      ['[text]', `["${'y'.repeat(998)}`],
    ] as const) {
      const error = `(() => { const text = "y".repeat(3000);
        return new E.CustomHttpResponseError({ headers: ${headers}, body: ${body} }) })()`;
      const outcome = await runner.run(throwing(error));
      const thrown = outcome.kind === 'threw' ? outcome.error : undefined;
      expect(thrown?.body).toBe(cut);
      expect(Object.values(thrown?.headers ?? {})).toEqual(Array(50).fill('y'.repeat(1_000)));
    }
  });

  it.each(['199', '600', '200.5', '"404"', 'NaN', '-1', '1e300'])(
    'has no status when it is %s',
    async (status) => {
      const error = `new E.CustomHttpResponseError({ status: ${status} })`;
      const outcome = await runner.run(throwing(error));
      expect(outcome).toMatchObject({ kind: 'threw', error: { name: 'CustomHttpResponseError' } });
      expect(outcome).not.toHaveProperty('error.status');
    },
  );

  it.each([
    ['an ordinary error', 'new TypeError("ordinary")', { name: 'TypeError', message: 'ordinary' }],
    ['a string', '"text"', { name: 'Error', message: 'text' }],
    ['undefined', 'undefined', { name: 'Error', message: 'undefined' }],
  ])('may be %s', async (_, expression, error) => {
    expect(await runner.run(throwing(expression))).toMatchObject({ kind: 'threw', error });
  });

  it('fails the run and ends the process when nobody catches it', async () => {
    const code = `let calls = 0; module.exports = async ({ args }) => {
      calls += 1;
      if (args.fail) { setTimeout(() => { throw new RangeError('late') }, 5); await new Promise(() => {}) }
      return { calls } }`;
    expect(await runner.run(code)).toMatchObject({ value: { calls: 1 } });
    expect(await runner.run(code, { args: { fail: true } })).toMatchObject({
      kind: 'threw',
      error: { name: 'RangeError', message: 'late' },
    });
    expect(await runner.run(code)).toMatchObject({ value: { calls: 1 } });
  });
});

describe('code', () => {
  it.each([
    ['does not compile', 'module.exports = (', /SyntaxError.*line 1/],
    ['exports no function', 'module.exports = 1', /does not export a function/],
    ['requires a forbidden module', 'require("fs")', /Module 'fs' is not available/],
    ['requires it with its prefix', 'require("node:child_process")', /is not available/],
    ['requires an unknown package', 'require("left-pad")', /Module 'left-pad' is not available/],
  ])('is invalid, which is no failed run, when it %s', async (_, code, message) => {
    expect(await runner.run(code)).toMatchObject({
      kind: 'invalid_code',
      error: { message: expect.stringMatching(message) },
    });
  });

  it('fails its run when it throws while loading, or requires an unknown module in the function', async () => {
    expect(await runner.run('throw new Error("top")')).toMatchObject({ kind: 'threw' });
    expect(await runner.run('module.exports = () => require("fs")')).toMatchObject({
      kind: 'threw',
      error: { code: 'MODULE_NOT_FOUND' },
    });
  });

  it('may require the offered modules of Node under both spellings, and no others', async () => {
    const names = [...new Set([...builtinModules, ...nodeModules, 'lodash', 'axios/x'])];
    const code = `module.exports = ({ args }) => {
      const works = (name) => { try { return typeof require(name) !== 'undefined'; } catch { return false; } };
      return { found: args.names.flatMap((n) => [n, 'node:' + n]).filter(works) };
    }`;
    for (const runtime of specRuntimes) {
      const outcome = await runner.run(code, { args: { names }, runtime });
      const found = builtinModules.flatMap((name) => [name, `node:${name}`]);
      expect(outcome).toMatchObject({ kind: 'returned', value: { found: expect.any(Array) } });
      expect(new Set((outcome as { value: { found: string[] } }).value.found)).toEqual(
        new Set(found),
      );
    }
  });
});

describe('req.svc', () => {
  it('is null without an application', async () => {
    expect(await runner.run('module.exports = ({ svc }) => ({ svc })')).toEqual({
      kind: 'returned',
      value: { svc: null },
    });
  });

  it('calls the process that asked for the run, and returns its answers and errors', async () => {
    const calls: unknown[] = [];
    const onCall = (method: string, params: unknown): Promise<unknown> => {
      calls.push([method, params]);
      if (method !== 'svc.tokens.delete') return Promise.resolve({ of: method });
      return Promise.reject(
        Object.assign(new Error('Forbidden'), { status: 403, data: { title: 'no' } }),
      );
    };
    const code = `module.exports = async ({ svc }) => {
      const answers = [await svc.tokenize({ a: 1 }), await svc.detokenize('{{x}}'), await svc.tokens.create({}),
        await svc.tokens.retrieve('id'), await svc.tokens.list({ type: 'card' }), await svc.tokens.update('id', { b: 2 })];
      const error = await svc.tokens.delete('id').catch((e) => ({ isError: e instanceof Error, message: e.message, status: e.status, data: e.data }));
      return { answers, error } }`;
    const outcome = await runner.run(code, { svc: true, runtime: 'node16' }, { onCall });
    const methods = [
      'tokenize',
      'detokenize',
      'tokens.create',
      'tokens.retrieve',
      'tokens.list',
      'tokens.update',
    ];
    expect(outcome).toEqual({
      kind: 'returned',
      value: {
        answers: methods.map((method) => ({ of: `svc.${method}` })),
        error: { isError: true, message: 'Forbidden', status: 403, data: { title: 'no' } },
      },
    });
    expect(calls).toContainEqual(['svc.tokens.update', ['id', { b: 2 }]]);
  });
});

it('an internal error of svc does not reach the code', async () => {
  const onCall = (): Promise<never> => Promise.reject(new Error('connect 10.0.0.7:5432'));
  const code = `module.exports = ({ svc }) => svc.tokenize({}).catch(({ message, status, code }) => ({ message, status, code }))`;
  expect(await runner.run(code, { svc: true }, { onCall })).toEqual({
    kind: 'returned',
    value: { message: 'The call failed.', status: 500 },
  });
});

describe('a connection to the runner', () => {
  it('is refused with a wrong secret', async () => {
    const stranger = createRunnerClient({ urls: [`unix:${runner.socketFile}`], secret: 'wrong' });
    expect(await stranger.ready()).toBe(false);
    await stranger.close();
    expect(await runner.client.ready()).toBe(true);
  });

  it('is closed when it sends nothing, or garbage', async () => {
    for (const said of ['', 'GET / HTTP/1.1\r\n\r\n']) {
      const socket = connect(runner.socketFile);
      socket.on('error', () => undefined).resume();
      socket.write(said);
      await once(socket, 'close');
    }
  });

  it('ends its runs when it closes', async () => {
    const hold = createServer();
    hold.listen(0, '127.0.0.1');
    await once(hold, 'listening');
    const { port } = hold.address() as AddressInfo;
    const abort = new AbortController();
    const outcome = runner.run(
      `module.exports = ({ args }) => new Promise(() => require('net').connect(args.port, 'x'))`,
      { args: { port } },
      { signal: abort.signal },
    );
    const [socket] = (await once(hold, 'connection')) as [Socket];
    const gone = once(socket.on('error', () => undefined).resume(), 'close');
    abort.abort();
    expect(await outcome).toEqual({ kind: 'died', reason: 'cancelled' });
    await gone;
    hold.close();
  });
});
