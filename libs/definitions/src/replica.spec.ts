import { randomBytes, randomUUID } from 'node:crypto';
import { readerVersion } from '@glovebox/database';
import { parseKeyRing, sealWithRing } from '@glovebox/seal';
import { sealDefinition } from './codec';
import type { DefinitionKind, ProxyDefinition, ReactorDefinition } from './definition';
import type { LogEntry, LogPart } from './log';
import { newerToldMax, Replica } from './replica';

const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
const epoch = randomUUID();
const tenantId = randomUUID();

function reactor(id: string, value: string): ReactorDefinition {
  const configuration = { value };
  const formulaId = randomUUID();
  return {
    kind: 'reactor',
    id,
    tenantId,
    formulaId,
    applicationId: null,
    configuration,
    isolation: 'warm',
  };
}

const entry = (version: number, id: string, value?: string): LogEntry => ({
  version,
  kind: 'reactor',
  id,
  tenantId,
  payload: value === undefined ? null : sealDefinition(ring, 1, reactor(id, value)),
});

const partOf = (after: number, entries: LogEntry[], upTo: number): LogPart => ({
  after,
  head: { epoch, version: upTo },
  entries,
  upTo,
});

const replica = (): Replica => new Replica(ring, () => undefined);

describe('a copy of the log', () => {
  it('takes nothing older from a part that was read earlier but arrives later', async () => {
    const copy = replica();
    const id = randomUUID();
    const late = partOf(0, [entry(1, id, 'old')], 1);
    expect(await copy.apply(partOf(0, [entry(2, id)], 2))).toBe(true);
    expect(await copy.apply(late)).toBe(true);
    expect(copy.snapshot.find('reactor', tenantId, id)).toBeUndefined();
    expect(copy.head).toEqual({ epoch, version: 2 });
  });

  it('takes no part that leaves a gap and none of another log', async () => {
    const copy = replica();
    await copy.apply(partOf(0, [], 2));
    expect(await copy.apply(partOf(3, [], 4))).toBe(false);
    const other = { ...partOf(2, [], 4), head: { epoch: randomUUID(), version: 4 } };
    expect(await copy.apply(other)).toBe(false);
    expect(copy.head?.version).toBe(2);
  });

  it('lets other work run while it takes a large part', async () => {
    const copy = replica();
    const entries = Array.from({ length: 5_000 }, (_, n) => entry(n + 1, randomUUID(), `${n}`));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await copy.apply(partOf(0, entries, entries.length));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
    expect(copy.snapshot.size).toBe(5_000);
  });
});

describe('a copy of the log that is whole', () => {
  const ids = Array.from({ length: 5_000 }, () => randomUUID());
  const values = (copy: Replica): Set<unknown> =>
    new Set(ids.map((id) => copy.snapshot.find('reactor', tenantId, id)?.configuration.value));
  const whole = async (): Promise<Replica> => {
    const copy = replica();
    const entries = ids.map((id, n) => entry(n + 1, id, 'before'));
    expect(await copy.apply(partOf(0, entries, ids.length))).toBe(true);
    return copy;
  };

  it('shows all that came up to a head, or nothing of it, in one part or in several', async () => {
    const copy = await whole();
    const from = ids.length;
    const later = ids.map((id, n) => entry(from + n + 1, id, 'after'));
    const half = from + ids.length / 2;
    const full = { ...partOf(from, later.slice(0, ids.length / 2), half) };
    const seen: unknown[] = [];
    const looks = setInterval(() => seen.push([...values(copy)]), 0);
    expect(await copy.apply({ ...full, head: { epoch, version: 2 * from } })).toBe(true);
    expect([copy.head?.version, copy.takenTo]).toEqual([from, half]);
    expect(await copy.apply(partOf(half, later.slice(ids.length / 2), 2 * from))).toBe(true);
    clearInterval(looks);
    expect(seen.length).toBeGreaterThan(2);
    expect(new Set(seen.map(String))).toEqual(new Set(['before']));
    expect([...values(copy)]).toEqual(['after']);
    expect(copy.head?.version).toBe(2 * from);
  });

  it('drops what it had not shown yet with all the rest', async () => {
    const copy = await whole();
    const part = partOf(ids.length, [entry(ids.length + 1, ids[0] ?? '', 'after')], ids.length + 1);
    await copy.apply({ ...part, head: { epoch, version: 2 * ids.length } });
    await copy.forget();
    await copy.apply(partOf(0, [], 1));
    expect([copy.snapshot.size, copy.takenTo]).toEqual([0, 1]);
  });
});

describe('a definition of a newer release', () => {
  /** As this process may get it from a release that nobody has thought of. */
  const newer = (
    version: number,
    kind: DefinitionKind,
    id: string,
    keys: unknown = [],
    v = readerVersion + 1,
  ): LogEntry => {
    const payload = { v, recognise: { keys, later: 1 }, definition: { shape: 'unknown' } };
    const place = { table: 'definition_log', column: kind, tenantId, record: id };
    const sealed = sealWithRing(ring, 1, place, JSON.stringify(payload));
    return { version, kind, id, tenantId, payload: sealed };
  };
  const proxy = (
    version: number,
    id: string,
    keyHash: string,
    match: ProxyDefinition['match'] = null,
  ): LogEntry => {
    const definition = {
      kind: 'proxy',
      id,
      tenantId,
      keyHash,
      destinationUrl: 'https://example.com',
      requireAuth: true,
      detokenize: true,
      requestTransform: null,
      responseTransform: null,
      requestSteps: [],
      responseSteps: [],
      applicationId: null,
      configuration: {},
      isolation: 'warm',
      timeoutMs: null,
      tls: null,
      allowedOrigins: [],
      match,
      forwardTo: null,
    } as const;
    return { version, kind: 'proxy', id, tenantId, payload: sealDefinition(ring, 1, definition) };
  };
  const tooOld = expect.objectContaining({ code: 'newer_definition', status: 503 }) as unknown;
  const codeOf = (find: () => unknown): unknown => {
    try {
      return find();
    } catch (error) {
      return error;
    }
  };

  it('is refused by its id and by its keys, for its tenant alone, beside all others', async () => {
    const copy = replica();
    const [id, other, application] = [randomUUID(), randomUUID(), randomUUID()];
    const entries = [
      newer(1, 'proxy', id, ['p']),
      newer(2, 'application', application, ['k1', 'k2']),
      proxy(3, other, 'q'),
    ];
    await copy.apply(partOf(0, entries, 3));
    const { snapshot } = copy;
    expect(codeOf(() => snapshot.find('proxy', tenantId, id))).toEqual(tooOld);
    expect(codeOf(() => snapshot.proxyByKeyHash('p'))).toEqual(tooOld);
    expect(codeOf(() => snapshot.principalByKeyHash('k2'))).toEqual(tooOld);
    expect(codeOf(() => snapshot.principal(tenantId, application))).toEqual(tooOld);
    expect(snapshot.find('proxy', randomUUID(), id)).toBeUndefined();
    expect(snapshot.find('reactor', tenantId, id)).toBeUndefined();
    expect(snapshot.principalByKeyHash('guessed')).toBeUndefined();
    expect(snapshot.proxyByKeyHash('q')).toMatchObject({ id: other });
    expect([snapshot.newer, snapshot.size]).toEqual([2, 1]);
  });

  it.each([[5], ['keys'], [{ length: 1 }], [[7, null, ['k']]], [null]])(
    'stops no other definition, whatever stands in the place of its keys: %j',
    async (keys) => {
      const copy = replica();
      const [id, other] = [randomUUID(), randomUUID()];
      const entries = [newer(1, 'proxy', id, keys), proxy(2, other, 'q')];
      expect(await copy.apply(partOf(0, entries, 2))).toBe(true);
      expect(codeOf(() => copy.snapshot.find('proxy', tenantId, id))).toEqual(tooOld);
      expect(copy.snapshot.proxyByKeyHash('k')).toBeUndefined();
      expect(copy.snapshot.proxyByKeyHash('q')).toMatchObject({ id: other });
    },
  );

  it('comes and goes with the versions of its resource, and leaves no key behind', async () => {
    const copy = replica();
    const id = randomUUID();
    const found = (hash: string) => codeOf(() => copy.snapshot.proxyByKeyHash(hash));
    await copy.apply(partOf(0, [proxy(1, id, 'a')], 1));
    const { revision } = copy.snapshot;
    await copy.apply(partOf(1, [newer(2, 'proxy', id, ['b'])], 2));
    expect([found('a'), found('b')]).toEqual([undefined, tooOld]);
    // What was decided before is decided anew.
    expect(copy.snapshot.revision).not.toBe(revision);
    await copy.apply(partOf(2, [newer(3, 'proxy', id, ['c'])], 3));
    expect([found('b'), found('c')]).toEqual([undefined, tooOld]);
    await copy.apply(partOf(3, [proxy(4, id, 'c')], 4));
    expect(found('c')).toMatchObject({ id });
    await copy.apply(partOf(4, [newer(5, 'proxy', id, ['c'])], 5));
    await copy.apply(partOf(5, [{ version: 6, kind: 'proxy', id, tenantId, payload: null }], 6));
    expect(found('c')).toBeUndefined();
    expect([copy.snapshot.newer, copy.snapshot.size]).toEqual([0, 0]);
  });

  it('is refused in a sealed format of later as well, and a key of it is unknown', async () => {
    const copy = replica();
    const id = randomUUID();
    const entry = newer(1, 'proxy', id, ['p']);
    entry.payload?.writeUInt8(3, 0);
    await copy.apply(partOf(0, [entry], 1));
    expect(codeOf(() => copy.snapshot.find('proxy', tenantId, id))).toEqual(tooOld);
    expect(copy.snapshot.proxyByKeyHash('p')).toBeUndefined();
  });

  it.each(['newer', 'damaged'])(
    'that is a %s proxy stops all of forward mode of its tenant alone, since nobody knows what it matches',
    async (state) => {
      const copy = replica();
      const [id, wide] = [randomUUID(), randomUUID()];
      const damaged = proxy(2, id, 'p');
      damaged.payload?.reverse().writeUInt8(damaged.payload.at(-1) ?? 0, 0);
      const unread = state === 'newer' ? newer(2, 'proxy', id) : damaged;
      const match = { hosts: ['*.example'], methods: [], paths: [] };
      const request = { hostPatterns: ['a.example', '*.example'], method: 'GET', path: '/' };
      const found = (tenant = tenantId) =>
        codeOf(() => copy.snapshot.proxyFor(tenant, request)?.id);
      const isKnown = () => codeOf(() => copy.snapshot.hasProxyFor(tenantId, ['a.example']));
      const refused = expect.objectContaining({
        code: state === 'newer' ? 'newer_definition' : 'service_unavailable',
        status: 503,
      }) as unknown;
      await copy.apply(partOf(0, [proxy(1, wide, 'w', match), unread], 2));
      expect([found(), isKnown()]).toEqual([refused, refused]);
      expect(found(randomUUID())).toBeUndefined();
      expect(copy.snapshot.proxyByKeyHash('w')).toMatchObject({ id: wide });
      await copy.apply(partOf(2, [proxy(3, id, 'p')], 3));
      expect([found(), isKnown()]).toEqual([wide, false]);
      await copy.apply(partOf(3, [{ ...unread, version: 4 }], 4));
      expect(found()).toEqual(refused);
      await copy.apply(partOf(4, [{ version: 5, kind: 'proxy', id, tenantId, payload: null }], 5));
      expect(found()).toBe(wide);
    },
  );

  it('is told of once, and of 50,000 no more than the first hundred are', async () => {
    const told: string[] = [];
    const faults: unknown[] = [];
    const copy = new Replica(
      ring,
      (error) => faults.push(error),
      ({ id, needed }) => told.push(`${id} ${needed}`),
    );
    const ids = Array.from({ length: 50_000 }, () => randomUUID());
    const all = (from: number): LogEntry[] =>
      ids.map((id, nth) => newer(from + nth + 1, 'reactor', id));
    await copy.apply(partOf(0, all(0), ids.length));
    await copy.apply(partOf(ids.length, all(ids.length), 2 * ids.length));
    const first = ids.slice(0, newerToldMax).map((id) => `${id} ${readerVersion + 1}`);
    expect({ told, faults }).toEqual({ told: first, faults: [] });
    expect(copy.snapshot.newer).toBe(ids.length);
  });
});
