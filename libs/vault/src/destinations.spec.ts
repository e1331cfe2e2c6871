import { randomUUID } from 'node:crypto';
import type { AccessRule, Principal } from '@glovebox/access';
import { toProblem } from '@glovebox/problems';
import { usesOneByOne, Vault, type TokenInput, type Use } from './index';
import { refuseToFree } from './change-limits';
import { Reach } from './reach';
import { useSpecVault } from './spec-vault';

const spec = useSpecVault();
const tenantId = randomUUID();

const principal = (rules: Partial<AccessRule>[] = [], type: Principal['type'] = 'private') =>
  ({
    actorId: randomUUID(),
    tenantId,
    type,
    permissions: ['token:create', 'token:use', 'token:read', 'token:update'],
    rules: rules.map((rule) => ({
      ...{ description: '', priority: 1, container: '/', transform: 'reveal' },
      permissions: ['token:use', 'token:read', 'token:update'],
      ...rule,
    })),
  }) as Principal;

const all = principal();
const revealing = principal([{}]);
const useTo = (goesTo?: string[]): Use => ({
  ...{ tenantId, actorId: all.actorId, operation: 'proxy.invoke', entityType: 'proxy' },
  ...{ entityId: randomUUID(), traceId: randomUUID(), destinationHost: 'a.example' },
  ...(goesTo ? { goesTo } : {}),
});
const store = (input: TokenInput, viewer: object = {}): Promise<string> =>
  spec.data
    .transaction((sql) =>
      spec.vault.createToken(sql, { principal: all, traceId: 'trace', ...viewer }, input),
    )
    .then(({ view }) => view.id);
const update = (id: string, patch: object, viewer: object = {}) =>
  spec.data.transaction((sql) =>
    spec.vault.updateToken(sql, { principal: all, traceId: 'trace', ...viewer }, id, patch),
  );

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => toProblem(error).code,
  );

describe.each(['shared', 'its own'])('a use of tokens in %s statement', (statement) => {
  const open = (ids: string[], use: Use, who = all): Promise<ReadonlyMap<string, unknown>> => {
    const alone = usesOneByOne(() => spec.data);
    const vault = statement === 'shared' ? spec.vault : new Vault(spec.sealer, alone);
    return vault.detokenize(who, use, ids, new Reach());
  };

  it('gives values that may go to the host, and records a refusal of any other in its one line', async () => {
    const bound = await store({ data: 1, destinations: ['a.example', '*.b.example'] });
    const free = await store({ data: 2 });
    for (const goesTo of [
      ['a.example', '*.example'],
      ['x.b.example', '*.b.example', '*.example'],
    ]) {
      const values = await open([bound, free], useTo(goesTo));
      expect([values.get(bound), values.get(free)]).toEqual([1, 2]);
    }
    const use = useTo(['c.example', '*.example']);
    expect(await codeOf(open([free, bound], use))).toBe('destination_not_allowed');
    const lines = await spec.admin.query(
      'SELECT outcome, destination_host FROM audit_log WHERE trace_id = $1',
      [use.traceId],
    );
    expect(lines).toEqual([{ outcome: 'refused', destination_host: 'a.example' }]);
  });

  it('needs the rule that decides to allow the host too', async () => {
    const id = await store({ data: 1, destinations: ['a.example', 'c.example'] });
    const who = principal([{ destinations: ['a.example', 'b.example'] }]);
    expect((await open([id], useTo(['a.example']), who)).get(id)).toBe(1);
    for (const host of ['b.example', 'c.example', 'd.example']) {
      expect(await codeOf(open([id], useTo([host]), who))).toBe('destination_not_allowed');
    }
  });

  it('sees a change of destinations at once', async () => {
    const id = await store({ data: 1, destinations: ['a.example'] });
    expect((await open([id], useTo(['a.example']))).get(id)).toBe(1);
    await update(id, { destinations: ['b.example'] });
    expect(await codeOf(open([id], useTo(['a.example'])))).toBe('destination_not_allowed');
    await update(id, { destinations: null });
    expect((await open([id], useTo(['a.example']))).get(id)).toBe(1);
  });
});

describe('code that has opened bound tokens', () => {
  const reachOf = async (...lists: string[][]): Promise<Reach> => {
    const reach = new Reach();
    for (const destinations of lists) {
      const id = await store({ data: 1, destinations });
      await spec.vault.detokenize(all, useTo(), [id], reach);
    }
    return reach;
  };

  it('reaches what all of them allow, and no host of which a path is allowed alone', async () => {
    const reach = await reachOf(
      ['*.a.example', 'b.example', 'c.example/v1', 'd.example'],
      ['x.a.example', 'b.example:444', 'c.example', '*.d.example', 'd.example'],
    );
    expect(reach.hosts).toEqual(['x.a.example', 'd.example']);
    expect(reach.allows({ origin: 'https://c.example', path: '/v1/x' })).toBe(true);
    expect(reach.allows({ origin: 'https://c.example', path: '/v2' })).toBe(false);
  });

  it('is refused a token that would leave no place at all, and the refusal names the tokens', async () => {
    const reach = await reachOf(['a.example']);
    const other = await store({ data: 2, destinations: ['b.example'] });
    const refused = spec.vault.detokenize(all, useTo(), [other], reach);
    await expect(refused).rejects.toMatchObject({
      code: 'destination_not_allowed',
      detail: expect.stringContaining(other) as string,
    });
    expect(reach.hosts).toEqual(['a.example']);
  });

  it.each<[string, (other: string, use: Use, reach: Reach) => Promise<unknown>]>([
    ['uses it', (other, use, reach) => spec.vault.detokenize(all, use, [other], reach)],
    ['will use it', (other, use, reach) => spec.vault.foresee(all, use, [other], reach)],
    [
      'resolves it',
      (other, { traceId }, reach) =>
        spec.vault.resolve({ principal: revealing, traceId, reach }, `{{ ${other} }}`),
    ],
    [
      'reads it',
      (other, { traceId }, reach) =>
        spec.vault.readToken(spec.data, { principal: revealing, traceId, reach }, other),
    ],
    [
      'lists it',
      (other, { traceId }, reach) => {
        const viewer = { principal: revealing, traceId, reach };
        return spec.vault.listTokens(spec.data, viewer, { ids: [other] }, { page: 1, size: 20 });
      },
    ],
  ])('leaves a line of the refusal where nothing would be left, when it %s', async (_, open) => {
    const reach = await reachOf(['a.example']);
    const other = await store({ data: 2, destinations: ['b.example'] });
    const use = useTo();
    expect(await codeOf(open(other, use, reach))).toBe('destination_not_allowed');
    const lines = await spec.admin.query(
      'SELECT token_ids FROM audit_log WHERE trace_id = $1 AND outcome = $2',
      [use.traceId, 'refused'],
    );
    expect(lines).toEqual([{ token_ids: [other] }]);
  });

  it('narrows by each token of which it reads the data or the mask, and not by one that shows neither', async () => {
    const who = principal([{ container: '/open/' }]);
    const destinations = ['r.example', 'm.example'];
    const [unmasked = '', read = '', masked = ''] = await Promise.all([
      store({ data: 1, destinations: ['u.example'] }),
      store({ data: 1, destinations, containers: ['/open/'] }),
      store({ data: 'secret', mask: '{{ data | slice: 0, 4 }}', destinations: ['m.example'] }),
    ]);
    const reach = new Reach();
    const viewer = { principal: who, traceId: 'trace', reach };
    await spec.vault.readToken(spec.data, viewer, unmasked);
    expect(reach.hosts).toBeUndefined();
    await spec.vault.readToken(spec.data, viewer, read);
    expect(reach.hosts).toEqual(destinations);
    expect(await spec.vault.readToken(spec.data, viewer, masked)).toMatchObject({ data: 'secr' });
    expect(reach.hosts).toEqual(['m.example']);
  });

  it('stores nothing that may go further, and frees no token', async () => {
    const viewer = { reach: await reachOf(['*.a.example', 'b.example/v1']) };
    for (const destinations of [
      undefined,
      ['b.example'],
      ['a.example'],
      ['x.a.example', 'c.example'],
    ]) {
      expect(await codeOf(store({ data: 1, ...(destinations && { destinations }) }, viewer))).toBe(
        'destination_not_allowed',
      );
    }
    const kept = await store({ data: 1, destinations: ['x.a.example', 'b.example/v1/x'] }, viewer);
    const free = await store({ data: 1 });
    expect(await codeOf(update(kept, { destinations: null }, viewer))).toBe(
      'destination_not_allowed',
    );
    expect(await codeOf(update(kept, { destinations: ['*.a.example'] }, viewer))).toBe(
      'destination_not_allowed',
    );
    expect(await codeOf(update(free, { data: 'copied' }, viewer))).toBe('destination_not_allowed');
    expect(await codeOf(update(kept, { destinations: ['x.a.example'] }, viewer))).toBe('done');
    expect(await codeOf(update(free, {}, viewer))).toBe('done');
  });
});

it('code that has opened nothing frees no token either, to open it as a free one afterwards', async () => {
  const reach = new Reach();
  const viewer = { principal: principal([{}]), reach };
  const id = await store({ data: 'secret', destinations: ['*.a.example'] });
  for (const destinations of [null, ['*.example'], ['*.a.example', 'b.example']]) {
    expect(await codeOf(update(id, { destinations }, viewer))).toBe('destination_not_allowed');
  }
  expect(await codeOf(store({ data: 'free' }, { reach: new Reach() }))).toBe('done');
  expect(await codeOf(update(id, { destinations: ['x.a.example'] }, viewer))).toBe('done');
  expect(reach.hosts).toEqual(['x.a.example']);
});

it.each<[string, Principal['type'], object]>([
  ['code', 'private', { reach: new Reach() }],
  ['a public application', 'public', {}],
])('%s moves no token to where a rule lets it go further', async (_, type, more) => {
  const rules = [
    { container: '/bound/', destinations: ['*.a.example'] },
    { container: '/narrow/', destinations: ['x.a.example'] },
    { container: '/free/' },
  ];
  const viewer = { principal: principal(rules, type), ...more };
  const id = await store({ data: 1, containers: ['/bound/'] });
  const move = (container: string, who: object) =>
    codeOf(update(id, { containers: [container] }, who));
  expect(await move('/free/', viewer)).toBe('destination_not_allowed');
  expect(await move('/narrow/', viewer)).toBe('done');
  expect(await move('/bound/', viewer)).toBe('destination_not_allowed');
  expect(await move('/free/', { principal: principal(rules) })).toBe('done');
});

it('a public application narrows destinations, and neither widens nor removes them', async () => {
  const viewer = { principal: principal([], 'public') };
  const id = await store({ data: 1, destinations: ['*.a.example'] });
  expect(await codeOf(update(id, { destinations: ['*.example'] }, viewer))).toBe(
    'destination_not_allowed',
  );
  expect(await codeOf(update(id, { destinations: null }, viewer))).toBe('destination_not_allowed');
  expect(await codeOf(update(id, { metadata: { a: '1' } }, viewer))).toBe('done');
  expect(await codeOf(update(id, { destinations: ['x.a.example/v1'] }, viewer))).toBe('done');
  const free = await store({ data: 1 });
  expect(await codeOf(update(free, { destinations: ['a.example'] }, viewer))).toBe('done');
});

it('a reach is bounded, whatever the lists are', async () => {
  const hosts = Array.from({ length: 20 }, (_, n) => `${'*.'}${'x.'.repeat(n)}example`);
  const paths = Array.from({ length: 20 }, (_, n) => `*.example/p${n}`);
  const more = Array.from({ length: 20 }, (_, n) => `*.example${'/p1'.repeat(n + 1)}`);
  const reach = new Reach();
  for (const [at, list] of [hosts, paths, hosts, more].entries()) {
    reach.narrow([{ id: String(at), lists: [list] }]);
  }
  expect(reach.hosts).toEqual([]);
});

it('a list that nobody can read is not within what is allowed, by a run or by a public application', () => {
  const unreadable = [`a.example/${'%C3%A9'.repeat(200)}`];
  const reach = new Reach();
  reach.narrow([{ id: 'a', lists: [['a.example']] }]);
  expect(() => reach.requireKept(['a.example/v1'])).not.toThrow();
  for (const list of [unreadable, ['a.example/v1', ...unreadable]]) {
    expect(() => reach.requireKept(list)).toThrow('within those');
    const viewer = { principal: principal([], 'public') };
    expect(() => refuseToFree(viewer as never, ['a.example'], list)).toThrow('may narrow');
  }
});
