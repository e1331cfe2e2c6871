import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { startLine, waitFor, type Line } from '@glovebox/testing';
import type { DefinitionConnection } from './index';
import { readLog } from './log';
import { changeChannel, keys } from './redis-scripts';
import { startStage, type Stage } from './spec-stage';

let stage: Stage;
let raw: Redis;
let toPostgres: Line;
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
  toPostgres = await startLine(stage.database.dataUrl);
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

/** As somebody does who may write to Redis and has no key: the newest version, with other content. */
async function putInto(id: string, version: number, payload: string): Promise<void> {
  const { epoch } = (await readLog(stage.management, 0)).head;
  await raw
    .multi()
    .hset(keys.entries, nameOf(id), payload)
    .zadd(keys.order, version, nameOf(id))
    .set(keys.head, `${epoch}:${version}`)
    .publish(changeChannel, `${epoch}:${version}`)
    .exec();
}

describe('an older sealed entry that was put back into Redis', () => {
  it.each([
    ['a change', (id: string) => stage.write(stage.reactor(id, { value: 'new' })), 'new'],
    ['a deletion', (id: string) => stage.remove(id), undefined],
  ])('in place of %s is not believed, and Postgres is asked', async (_, change, expected) => {
    const id = randomUUID();
    const older = await announced(id, 'old');
    await api.relay.stop();
    const version = await change(id);
    await putInto(id, version, older);
    await waitFor(() => gateway.follower.head?.version === version);
    expect(valueOf(id)).toBe(expected);
    expect(faults).toContain('ProofMissing');
  });

  it('while Postgres is away ends the calls', async () => {
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

it('an entry that a relay of an older release brought, without a proof, is taken from Postgres', async () => {
  const id = randomUUID();
  await api.relay.stop();
  const version = await stage.write(stage.reactor(id, { value: 'unproven' }));
  const { entries } = await readLog(stage.management, version - 1);
  await putInto(id, version, entries[0]?.payload?.toString('base64') ?? '');
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
