import { randomUUID } from 'node:crypto';
import { connectDatabase } from '@glovebox/database';
import { Budget } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { createRunnerClient } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import type { InvokedReactor } from './find-reactor';
import type { Invocation } from './invoke-reactor';
import {
  application,
  asApplication,
  caller,
  formula,
  principal,
  reactor,
  SpecInvocations,
} from './spec-invocations';

let spec: SpecInvocations;
beforeAll(async () => {
  spec = await SpecInvocations.open();
});
afterAll(() => spec.close());

const run: SpecInvocations['run'] = (...parameters) => spec.run(...parameters);
const storeToken = (data: unknown): Promise<string> => spec.storeToken(data);

/** The tokens that an application has created. */
const tokensOf = (applicationId: string): Promise<unknown[]> =>
  spec.database.query('SELECT id FROM tokens WHERE created_by = $1', [applicationId]);

describe('the answer to a run', () => {
  it.each<[string, object]>([
    ['{ raw: { sum: 5 } }', { raw: { sum: 5 } }],
    ['{ raw: null, other: 1 }', { raw: null }],
    ['{}', {}],
  ])('is made of what the code returns: %s', async (returned, answer) => {
    expect(await run(`module.exports = async () => (${returned})`)).toEqual(answer);
  });

  it('holds tokens in place of what the code asks to tokenize', async () => {
    const answer = await run(`module.exports = () => ({ raw: 1, tokenize: { number: 'x' } })`);
    expect(answer).toEqual({ raw: 1, tokens: { number: expect.any(String) as unknown } });
    const [row] = await spec.database.query<{ count: number }>(
      'SELECT count(*)::int FROM tokens WHERE id = $1',
      [(answer.tokens as { number: string }).number],
    );
    expect(row).toEqual({ count: 1 });
  });
});

describe('the arguments of a run', () => {
  it('reach the code detokenized and cast', async () => {
    const id = await storeToken('7');
    const requestParameters = [
      { name: 'count', type: 'number', optional: false, description: '' },
    ] as const;
    const answer = await run('module.exports = ({ args }) => ({ raw: args })', {
      now: { formula: { requestParameters: [...requestParameters] } },
      args: { count: `{{ ${id} }}`, undeclared: true },
    });
    expect(answer).toEqual({ raw: { count: 7 } });
  });

  it('may be one expression that yields an object', async () => {
    const id = await storeToken({ count: '7', other: 1 });
    const answer = await run('module.exports = ({ args }) => ({ raw: args })', {
      now: { formula: { requestParameters: [{ name: 'count', type: 'number', optional: false }] } },
      args: `{{ ${id} }}`,
    });
    expect(answer).toEqual({ raw: { count: 7 } });
    const text = await storeToken('x');
    const refused = run('module.exports = () => ({})', { args: `{{ ${text} }}` });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      errors: { args: ['must be an object'] },
    });
  });

  it.each<[string, object, object, object]>([
    [
      'a parameter is missing',
      {},
      { status: 400, code: 'validation_failed', errors: { 'args.count': ['is required'] } },
      {},
    ],
    [
      'a token is unknown',
      { count: '{{ nobody-knows-me }}' },
      { status: 400, code: 'unknown_token' },
      {},
    ],
    [
      'the caller may not use the token',
      { count: 'TOKEN' },
      { status: 403, code: 'permission_denied' },
      { caller: principal([]) },
    ],
    [
      'an expression is malformed',
      { count: '{{ a b }}' },
      { status: 400, code: 'invalid_expression' },
      {},
    ],
  ])('are refused before the code starts when %s', async (_, args, problem, now) => {
    const id = await storeToken(1);
    const started = jest.fn(() => Promise.resolve());
    const refused = run('module.exports = () => ({})', {
      now: {
        ...now,
        formula: {
          requestParameters: [{ name: 'count', type: 'number', optional: false }],
        },
      },
      args: JSON.parse(JSON.stringify(args).replace('TOKEN', `{{ ${id} }}`)) as object as Record<
        string,
        unknown
      >,
      beforeCode: started,
    });
    await expect(refused).rejects.toMatchObject(problem);
    expect(started).not.toHaveBeenCalled();
  });

  it('count towards the budget of the request that they came with', async () => {
    const id = await storeToken('x'.repeat(1_000));
    const kept: number[] = [];
    const keep = (bytes: number): void => void kept.push(bytes);
    await run('module.exports = () => ({})', {
      args: { a: `{{ ${id} }}` },
      budget: new Budget({ keep }),
    });
    expect(kept.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThanOrEqual(1_000);
  });
});

describe('code', () => {
  it.each<[string, (decided: InvokedReactor) => InvokedReactor]>([
    [
      'the formula has other code',
      (decided) => ({ ...decided, formula: { ...formula, code: 'x', codeHash: 'b' } }),
    ],
    [
      'the reactor is configured otherwise',
      (decided) => ({ ...decided, reactor: { ...reactor, configuration: { a: 'b' } } }),
    ],
    [
      'the caller may do less',
      (decided) => ({ ...decided, caller: { ...caller, permissions: [] } }),
    ],
  ])(
    'does not start when %s since its arguments were opened: 409 changed_meanwhile',
    async (_, change) => {
      const started = jest.fn(() => Promise.resolve());
      const refused = run('module.exports = () => ({})', {
        later: (decided) => Promise.resolve(change(decided)),
        beforeCode: started,
      });
      await expect(refused).rejects.toMatchObject({ status: 409, code: 'changed_meanwhile' });
      expect(started).not.toHaveBeenCalled();
    },
  );

  it('does not start when the definitions refuse the invocation by then', async () => {
    const refused = run('module.exports = () => ({})', {
      later: () => Promise.reject(new Problem('permission_denied')),
    });
    await expect(refused).rejects.toMatchObject({ code: 'permission_denied' });
  });

  it('does not start when the step before it fails', async () => {
    const refused = run('module.exports = () => ({ raw: 1 })', {
      beforeCode: () => Promise.reject(new Error('fenced')),
    });
    await expect(refused).rejects.toThrow('fenced');
  });
});

it('code starts when the definitions say the same in other objects', async () => {
  expect(await run('module.exports = () => ({ raw: 1 })')).toEqual({ raw: 1 });
});

describe('a run', () => {
  it.each<[string, string, object, Partial<Invocation>]>([
    [
      'throws an error',
      `module.exports = () => { throw new Error('why') }`,
      { status: 500, code: 'reactor_error', errors: { error: ['why'] } },
      {},
    ],
    [
      'throws an error class of the service',
      `const { RateLimitError } = require('@svc/reactor-errors');
       module.exports = () => { throw new RateLimitError('slow down') }`,
      { status: 429, code: 'reactor_error', errors: { error: ['slow down'] } },
      {},
    ],
    [
      'takes longer than its time-out',
      'module.exports = () => new Promise(() => {})',
      { status: 504, code: 'reactor_timeout' },
      { timeoutMs: 100 },
    ],
    ['does not compile', 'module.exports = (', { status: 422, code: 'invalid_code' }, {}],
    [
      'returns no object',
      'module.exports = () => 1',
      {
        status: 500,
        code: 'invalid_reactor_result',
        detail: 'The reactor must return an object.',
      },
      {},
    ],
    [
      'returns an object that refers to itself',
      'module.exports = () => { const a = {}; a.a = a; return a }',
      { status: 500, code: 'invalid_reactor_result' },
      {},
    ],
    [
      'returns more than a mebibyte',
      `module.exports = () => ({ raw: 'x'.repeat(1024 * 1024) })`,
      { status: 500, code: 'invalid_reactor_result' },
      {},
    ],
    [
      'takes more memory than it may',
      'module.exports = () => { for (const all = []; ; ) all.push(new Array(1e7).fill(1)) }',
      {
        status: 500,
        code: 'reactor_crashed',
        detail:
          'The reactor used more than 384 MB of memory, or more than half of that for objects.',
      },
      {},
    ],
  ])('whose code %s has failed with its own problem', async (_, code, problem, more) => {
    await expect(run(code, more)).rejects.toMatchObject(problem);
  });

  it('that fails shows nothing of its arguments, its configuration or the data it opened', async () => {
    const [argument, opened] = [await storeToken('from args'), await storeToken('from svc')];
    const failed = run(
      `module.exports = async (req) => {
         const opened = await req.svc.detokenize('{{ ${opened} }}');
         throw new Error([req.args.a, req.configuration.key, opened].join());
       }`,
      {
        now: { reactor: { ...asApplication, configuration: { key: 'from config' } }, application },
        args: { a: `{{ ${argument} }}` },
      },
    );
    await expect(failed).rejects.toMatchObject({
      code: 'reactor_error',
      errors: { error: ['[redacted],[redacted],[redacted]'] },
    });
  });

  it('that fails shows nothing of the data that it stored, or tried to store', async () => {
    const failed = run(
      `module.exports = async ({ svc }) => {
         const [made, changed, listed] = ['a made one', 'a changed one', 'a listed one'];
         await svc.tokens.create({ type: 'token', data: { a: made } });
         await svc.tokens.update('unknown', { data: changed }).catch(() => undefined);
         await svc.tokenize({ a: [listed, { type: 'token', data: 'a typed one' }] });
         throw new Error([made, changed, listed, 'a typed one', 'token'].join());
       }`,
      { now: { reactor: asApplication, application } },
    );
    await expect(failed).rejects.toMatchObject({
      errors: { error: ['[redacted],[redacted],[redacted],[redacted],token'] },
    });
  });

  it('that finds no runner is answered with 503 no_capacity', async () => {
    const nobody = createRunnerClient({ urls: ['unix:/nonexistent/runner.sock'], secret: 's' });
    const own = spec.context;
    spec.context = { ...own, runner: nobody };
    try {
      await expect(run('module.exports = () => ({})')).rejects.toMatchObject({
        status: 503,
        code: 'no_capacity',
      });
    } finally {
      spec.context = own;
      await nobody.close();
    }
  });

  it('that its caller has left is ended', async () => {
    const leaving = new AbortController();
    const failed = run('module.exports = () => new Promise(() => {})', {
      signal: leaving.signal,
      beforeCode: () => {
        setImmediate(() => leaving.abort());
        return Promise.resolve();
      },
    });
    await expect(failed).rejects.toMatchObject({ code: 'reactor_crashed' });
  });
});

describe('code that calls req.svc', () => {
  const tokenizing = `module.exports = async (req) => ({ raw: await req.svc.tokenize('x') })`;

  it('acts as the application of its reactor', async () => {
    const { raw } = await run(tokenizing, { now: { reactor: asApplication, application } });
    expect(raw).toEqual(expect.any(String));
    expect(await tokensOf(application.actorId)).toContainEqual({ id: raw });
  });

  it('ends with application_gone when the code does not catch that the application has gone', async () => {
    const now = { reactor: asApplication, application: null };
    await expect(run(tokenizing, { now })).rejects.toMatchObject({
      status: 409,
      code: 'application_gone',
    });
    const own = `const { BadRequestError } = require('@svc/reactor-errors');
      module.exports = (req) => req.svc.tokenize('x').catch(({ message }) => {
        throw new BadRequestError(message); })`;
    await expect(run(own, { now })).rejects.toMatchObject({ status: 400, code: 'reactor_error' });
  });

  it('finds none where its reactor has no application', async () => {
    expect(await run('module.exports = ({ svc }) => ({ raw: { svc } })')).toEqual({
      raw: { svc: null },
    });
  });

  it.each<[string, (decided: InvokedReactor) => Promise<InvokedReactor>]>([
    ['the application has gone', (decided) => Promise.resolve({ ...decided, application: null })],
    [
      'the reactor got another application',
      (decided) =>
        Promise.resolve({ ...decided, reactor: { ...asApplication, applicationId: randomUUID() } }),
    ],
    ['the reactor has gone', () => Promise.reject(new Problem('not_found'))],
  ])('is refused with 409 when meanwhile %s', async (_, later) => {
    let started = false;
    const answered = run(
      `module.exports = (req) => req.svc.tokenize('x').then(
         () => ({ raw: 'stored' }), ({ status, code }) => ({ raw: { status, code } }))`,
      {
        now: { reactor: asApplication, application },
        beforeCode: () => {
          started = true;
          return Promise.resolve();
        },
        later: (decided) => (started ? later(decided) : Promise.resolve(decided)),
      },
    );
    expect(await answered).toEqual({ raw: { status: 409, code: 'application_gone' } });
  });
});

it('names of opened data are redacted in errors of what a run returns to be tokenized', async () => {
  const token = await spec.storeToken({ 'Ada Lovelace': { number: 'x' } });
  const code = `module.exports = ({ args }) => ({
    tokenize: { people: [{ [Object.keys(args.data)[0]]: { type: 'card_number', data: 'none' } }] },
  });`;
  await expect(run(code, { args: { data: `{{ ${token} }}` } })).rejects.toMatchObject({
    code: 'validation_failed',
    errors: { 'people.0.[redacted].data': [expect.any(String)] },
  });
});

describe('a value that a run returns to be tokenized', () => {
  const code = `module.exports = () => ({ tokenize: 'x' })`;
  /** Decides differently once the code has started. */
  const changing = (later: (decided: InvokedReactor) => Promise<InvokedReactor>) => {
    let started = false;
    return {
      beforeCode: () => {
        started = true;
        return Promise.resolve();
      },
      later: (decided: InvokedReactor) => (started ? later(decided) : Promise.resolve(decided)),
    };
  };

  it('is stored as the application of the reactor', async () => {
    const { tokens } = await run(code, { now: { reactor: asApplication, application } });
    expect(await tokensOf(application.actorId)).toContainEqual({ id: tokens });
  });

  it('is stored as the caller where the reactor has no application', async () => {
    const { tokens } = await run(code);
    expect(await tokensOf(caller.actorId)).toContainEqual({ id: tokens });
  });

  it.each<[string, number, string, (decided: InvokedReactor) => Promise<InvokedReactor>]>([
    [
      'the application has gone',
      409,
      'application_gone',
      (decided) => Promise.resolve({ ...decided, application: null }),
    ],
    [
      'the reactor has gone',
      409,
      'application_gone',
      () => Promise.reject(new Problem('not_found')),
    ],
    [
      'the application lost token:create',
      403,
      'permission_denied',
      (decided) => Promise.resolve({ ...decided, application: principal(['token:read']) }),
    ],
    [
      'the lease of the definitions has ended',
      503,
      'service_unavailable',
      () => Promise.reject(new Problem('service_unavailable')),
    ],
  ])('is refused when meanwhile %s: %d %s', async (_, status, problem, later) => {
    const refused = run(code, {
      now: { reactor: asApplication, application },
      ...changing(later),
    });
    await expect(refused).rejects.toMatchObject({ status, code: problem });
  });
});

it('a run of another runtime runs on it', async () => {
  const answer = await run('module.exports = () => ({ raw: process.version })', {
    now: { formula: { runtime: 'node16' } },
  });
  expect(answer.raw).toMatch(/^v16\./);
});

it('each use of a token by a run is recorded before its code starts', async () => {
  const id = await storeToken('recorded');
  let recorded = 0;
  await run('module.exports = () => ({})', {
    args: { a: `{{ ${id} }}` },
    traceId: 'recorded run',
    beforeCode: async () => {
      const admin = connectDatabase({
        url: spec.testDatabase.adminUrl,
        app: 'spec',
        connectionsMax: 1,
      });
      recorded = await waitFor(async () => {
        const rows = await admin.query(`SELECT 1 FROM audit_log WHERE trace_id = 'recorded run'`);
        return rows.length;
      });
      await admin.close();
    },
  });
  expect(recorded).toBe(1);
});
