import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { startTcpRelay, waitFor, type TcpRelay } from '@glovebox/testing';
import type { DefinitionConnection } from './index';
import { readLog } from './log';
import { manifestOf } from './relay-proofs';
import { changeChannel, keys } from './redis-scripts';
import { startStage, type Stage } from './spec-stage';

let stage: Stage;
let raw: Redis;
let toPostgres: TcpRelay;
let api: DefinitionConnection;
let gateway: DefinitionConnection;
const faults: unknown[] = [];

beforeAll(async () => {
  stage = await startStage();
  raw = new Redis(stage.redis.url);
});

beforeEach(async () => {
  await raw.flushall();
  faults.length = 0;
  toPostgres = await startTcpRelay(stage.database.dataUrl);
  api = stage.connect({ relays: true });
  gateway = stage.connect({
    databaseUrl: toPostgres.url,
    onFault: (error) => faults.push(error instanceof Error ? error.name : error),
  });
  await Promise.all([api.start(), gateway.start()]);
  await waitFor(() => gateway.follower.source === 'redis');
});

afterEach(async () => {
  await toPostgres.close();
  await stage.disconnect();
});

afterAll(async () => {
  raw.disconnect();
  await stage.close();
});

const nameOf = (id: string): string => `reactor:${id}:${stage.tenantId}`;
const valueOf = (id: string): string | undefined => stage.find(gateway, id)?.configuration.value;

/** A definition that every process and Redis has, and what it is sealed as there. */
async function announced(id: string, value: string): Promise<string> {
  await api.relay.announce(await stage.write(stage.reactor(id, { value })));
  expect(valueOf(id)).toBe(value);
  return (await raw.hget(keys.entries, nameOf(id))) ?? '';
}

/** Writes to Redis without a key, as an attacker could: the newest version, with other content. */
async function putInto(
  id: string,
  version: number,
  payload: string,
  hasManifest = true,
): Promise<void> {
  const { head } = await readLog(stage.management, 0);
  const { epoch } = head;
  const entry = { kind: 'reactor', id, tenantId: stage.tenantId, version, payload: null } as const;
  const part = { after: version - 1, upTo: version, head, entries: [entry] };
  await raw
    .multi()
    .zadd(keys.parts, version, hasManifest ? manifestOf(stage.ring, part) : 'none')
    .hset(keys.entries, nameOf(id), payload)
    .zadd(keys.order, version, nameOf(id))
    .set(keys.head, `${epoch}:${version}`)
    .publish(changeChannel, `${epoch}:${version}`)
    .exec();
}

describe('an older sealed entry put back into Redis', () => {
  it.each([
    ['a change', (id: string) => stage.write(stage.reactor(id, { value: 'new' })), 'new'],
    ['a deletion', (id: string) => stage.remove(id), undefined],
  ])('is not believed in place of %s, and Postgres is asked', async (_, change, expected) => {
    const id = randomUUID();
    const older = await announced(id, 'old');
    await api.relay.stop();
    const version = await change(id);
    await putInto(id, version, older);
    await waitFor(() => gateway.follower.head?.version === version);
    expect(valueOf(id)).toBe(expected);
    expect(faults).toContain('ProofMissing');
  });

  it('ends the calls while Postgres is away', async () => {
    const id = randomUUID();
    const older = await announced(id, 'old');
    await api.relay.stop();
    const version = await stage.remove(id);
    await toPostgres.cut();
    await putInto(id, version, older);
    await waitFor(() => gateway.follower.fresh() === undefined);
    await expect(gateway.follower.current()).rejects.toMatchObject({ code: 'service_unavailable' });
    await toPostgres.restore();
    await gateway.follower.current();
    expect(valueOf(id)).toBeUndefined();
  });
});

it('an entry without a proof, from a relay of an older release, is taken from Postgres', async () => {
  const id = randomUUID();
  await api.relay.stop();
  const version = await stage.write(stage.reactor(id, { value: 'unproven' }));
  const { entries } = await readLog(stage.management, version - 1);
  await putInto(id, version, entries[0]?.payload?.toString('base64') ?? '', false);
  await waitFor(() => valueOf(id) === 'unproven');
});

it('an older entry put back with its own proof is not believed as a newer version', async () => {
  const id = randomUUID();
  const older = await announced(id, 'old');
  const proof = await raw.hget(keys.proofs, nameOf(id));
  expect(proof).toBeTruthy();
  await api.relay.stop();
  const version = await stage.remove(id);
  await raw.hset(keys.proofs, nameOf(id), proof ?? '');
  await putInto(id, version, older);
  await waitFor(() => gateway.follower.head?.version === version);
  expect(valueOf(id)).toBeUndefined();
});

describe('a writer of Redis that has no key', () => {
  const changes: [string, (id: string) => Promise<number>, string | undefined][] = [
    ['a change', (id) => stage.write(stage.reactor(id, { value: 'new' })), 'new'],
    ['a deletion', (id) => stage.remove(id), undefined],
  ];

  it.each(changes)(
    'cannot leave out %s and say that nothing is missing',
    async (_, change, expected) => {
      const id = randomUUID();
      await announced(id, 'old');
      await api.relay.stop();
      const version = await change(id);
      const { epoch } = (await readLog(stage.management, 0)).head;
      await raw
        .multi()
        .set(keys.head, `${epoch}:${version}`)
        .publish(changeChannel, `${epoch}:${version}`)
        .exec();
      await waitFor(() => (gateway.follower.head?.version ?? 0) >= version);
      expect(valueOf(id)).toBe(expected);
      expect(faults).toContain('PartIncomplete');
    },
  );

  it.each(changes)(
    'cannot keep %s from a process by saying that Postgres has none',
    async (_, change, expected) => {
      const id = randomUUID();
      await announced(id, 'old');
      await api.relay.stop();
      const head = (await raw.get(keys.head)) ?? '';
      const proofs = await raw.hgetall(keys.answerProofs);
      await change(id);
      await waitFor(async () => {
        const tickets = await raw.hgetall(keys.tickets);
        await raw
          .multi()
          .hset(keys.answers, { ...tickets, head })
          .hset(keys.answerProofs, proofs)
          .exec();
        return valueOf(id) === expected && gateway.follower.fresh() !== undefined;
      });
      expect(gateway.follower.source).toBe('postgres');
    },
  );

  it.each(changes)(
    'cannot keep %s from a process by saying that Postgres is away',
    async (_, change, expected) => {
      const id = randomUUID();
      const trusting = stage.connect({ postgresAwayMaxMs: 60_000 });
      await trusting.start();
      await announced(id, 'old');
      await waitFor(() => stage.find(trusting, id) !== undefined);
      await api.relay.stop();
      await change(id);
      await waitFor(async () => {
        const tickets = Object.entries(await raw.hgetall(keys.tickets));
        const refusals = tickets.map(([follower, ticket]) => [`writer ${follower}`, ticket]);
        await raw
          .multi()
          .del(keys.writers)
          .hset(keys.writers, 'writer', 0)
          .hset(keys.refusals, Object.fromEntries(refusals) as Record<string, string>)
          .exec();
        const { follower } = trusting;
        const value = stage.find(trusting, id)?.configuration.value;
        return value === expected && follower.fresh() !== undefined;
      });
      expect(trusting.follower.source).toBe('postgres');
    },
  );
});
