import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { connectDatabase, type Database } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import type { DefinitionConnection } from './index';
import { listLog } from './log';
import {
  acceptDatabase,
  DatabaseMarker,
  formatMarker,
  markerKey,
  parseMarker,
  readMarker,
  writeMarker,
  type Marker,
} from './marker';
import { startStage, type Stage } from './spec-stage';

let stage: Stage;
let owner: Database;
let redis: Redis;
/** What processes were told, by name. */
let told: string[];

beforeEach(async () => {
  told = [];
  stage = await startStage();
  owner = connectDatabase({ url: stage.database.adminUrl, app: 'spec', connectionsMax: 2 });
  redis = new Redis(stage.redis.url);
});
afterEach(async () => {
  redis.disconnect();
  await owner.close();
  await stage.close();
});

const process = (name: string): DefinitionConnection =>
  stage.connect({
    writes: true,
    onRestored: (error) => told.push(`${name} ${(error as { code: string }).code}`),
  });

async function started(name: string): Promise<DefinitionConnection> {
  const connection = process(name);
  await connection.start();
  return connection;
}

/** Starts a process, and returns what it is told before it serves. */
async function refusal(name: string): Promise<string | undefined> {
  const connection = process(name);
  void connection.start();
  await waitFor(() => connection.follower.fresh() ?? told.some((text) => text.startsWith(name)));
  const isReady = connection.follower.fresh() !== undefined;
  expect(connection.follower.loading).toBe(
    isReady ? undefined : 'restored, waits for after-restore',
  );
  await connection.close();
  return told.find((text) => text.startsWith(name))?.split(' ')[1];
}

async function written(connection: DefinitionConnection): Promise<string> {
  const id = randomUUID();
  await connection.announce(await stage.write(stage.reactor(id)));
  return id;
}

interface Head {
  readonly epoch: string;
  readonly version: string;
  readonly holds: boolean;
  readonly place: string;
  readonly timeline: number;
  readonly installation: string;
}

async function head(): Promise<Head> {
  const [row] = await owner.query<Head>('SELECT * FROM definition_head');
  if (!row) throw new Error('no head');
  return row;
}

/** The log as it was before these definitions, as a standby that lacks them has it. */
async function lose(...ids: string[]): Promise<void> {
  await owner.transaction(async (sql) => {
    await sql.query('DELETE FROM definition_log WHERE id = ANY ($1)', [ids]);
    await sql.query('UPDATE definition_head SET version = version - $1', [ids.length]);
  });
}

/** Lets the database answer as another one, as of the next statement. */
const answerAs = async (place: string, timeline: number): Promise<void> => {
  await owner.query(
    `CREATE OR REPLACE FUNCTION this_database(OUT place text, OUT timeline integer)
     LANGUAGE sql AS $$ SELECT '${place}', ${timeline} $$`,
  );
};

async function promote(): Promise<void> {
  const { place, timeline } = await head();
  await answerAs(place, timeline + 1);
}

describe('no process becomes ready', () => {
  it('on a database that was written in another place, however empty Redis is', async () => {
    await (await started('first')).close();
    await answerAs('7000000000000000000/5', 1);
    expect(await refusal('kept')).toBe('copied');
    await redis.flushall();
    expect(await refusal('emptied')).toBe('copied');
  });

  it('on a new timeline of which nobody saw what was before it', async () => {
    await (await started('first')).close();
    await redis.flushall();
    await promote();
    expect(await refusal('second')).toBe('unseen');
  });

  it('on a new timeline that lacks what was seen, when no other process is left', async () => {
    const first = await started('first');
    const id = await written(first);
    await first.close();
    await lose(id);
    await promote();
    expect(await refusal('second')).toBe('older');
  });

  it('on an older copy of the same files, when Redis was kept', async () => {
    const first = await started('first');
    const id = await written(first);
    await first.close();
    await lose(id);
    expect(await refusal('second')).toBe('older');
  });

  it('on an older copy that differs in nothing but rows that are no definitions', async () => {
    const first = await started('first');
    await owner.query('SELECT raise_pulse()');
    await waitFor(async () => {
      const { installation } = await head();
      return parseMarker(stage.ring, installation, (await redis.get(markerKey(installation))) ?? '')
        ?.seen.pulse;
    });
    await first.close();
    await owner.query('UPDATE database_pulse SET pulse = 0');
    expect(await refusal('second')).toBe('older');
  });

  it('on a copy from before an epoch that was seen', async () => {
    const before = await head();
    await acceptDatabase(owner, { lost: true });
    await (await started('first')).close();
    await owner.query('DELETE FROM definition_epochs');
    await owner.query('UPDATE definition_head SET epoch = $1', [before.epoch]);
    expect(await refusal('second')).toBe('other');
  });
});

it('processes go on from where they are after an operator has accepted the database', async () => {
  const first = await started('first');
  const lost = await written(first);
  await answerAs('7000000000000000000/5', 3);
  await waitFor(() => told.includes('first copied'));
  await expect(first.follower.current()).rejects.toMatchObject({ code: 'service_unavailable' });
  await owner.query('DELETE FROM definition_log WHERE id = $1', [lost]);
  await acceptDatabase(owner, { lost: true });
  await waitFor(() => first.follower.fresh());
  expect(stage.known(first, lost)).toBeUndefined();
  expect(first.follower.loading).toBeUndefined();
  expect(await refusal('second')).toBeUndefined();
  // Redis still knows the epoch before.
  await written(first);
  expect(await refusal('third')).toBeUndefined();
});

it('the pulse goes on when the clock of the server was put back', async () => {
  await owner.query(`UPDATE database_pulse SET raised_at = now() + interval '1 hour'`);
  for (const time of ['first', 'second']) {
    await owner.query('SELECT raise_pulse()');
    expect([time, await owner.query('SELECT pulse FROM database_pulse')]).toEqual([
      time,
      [{ pulse: '1' }],
    ]);
  }
});

it('a process that could not compare itself with Redis yet leaves what others left there', async () => {
  const { installation, epoch } = await head();
  const stores = { sql: owner, ring: stage.ring };
  const list = await listLog(owner, 0);
  const others: Marker = { ...list.here, seen: { ...list.seen, epoch: randomUUID() } };
  await writeMarker({ redis, ring: stage.ring }, installation, others);
  const late = new Redis(stage.redis.url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    commandTimeout: 200,
  });
  try {
    const faults: unknown[] = [];
    const marker = new DatabaseMarker({
      ...stores,
      redis: late,
      onFault: (error) => faults.push(error),
    });
    expect(await marker.judge(list)).toBe('take');
    expect(faults).toHaveLength(1);
    await once(late, 'ready');
    marker.applied(list);
    await late.ping();
    expect(
      (await readMarker({ redis: late, ring: stage.ring }, installation))?.seen.epoch,
    ).not.toBe(epoch);
    expect(await marker.judge(list)).toBe('ask');
    await expect(marker.judge(list)).rejects.toMatchObject({ cause: { code: 'other' } });
  } finally {
    late.disconnect();
  }
});

it('nothing is written into the log of a database that is not accepted', async () => {
  await promote();
  await expect(stage.write(stage.reactor(randomUUID()))).rejects.toMatchObject({
    code: 'service_unavailable',
  });
});

describe('a standby that is promoted', () => {
  it('with all that was seen is followed at once, in a new epoch, and nothing is held', async () => {
    const first = await started('first');
    const id = await written(first);
    const before = await head();
    await promote();
    await waitFor(async () => (await head()).epoch !== before.epoch);
    const after = await head();
    expect(after).toMatchObject({ version: before.version, holds: false });
    await waitFor(() => first.follower.fresh() && first.follower.head?.epoch === after.epoch);
    expect(stage.known(first, id)).toBeDefined();
    const taken = { ...first.follower.taken };
    await written(first);
    // The others were not read again.
    expect(first.follower.taken.postgres + first.follower.taken.redis).toBe(
      taken.postgres + taken.redis + 1,
    );
    expect(told).toEqual([]);
    expect(await refusal('second')).toBeUndefined();
  });

  it('without what a living process saw is followed, what is lost is lost, and the queues hold what they have', async () => {
    const first = await started('first');
    const kept = await written(first);
    const lost = await written(first);
    const before = await head();
    // In one transaction: a standby does not lose a part at a time.
    await owner.transaction(async (sql) => {
      await sql.query('DELETE FROM definition_log WHERE id = $1', [lost]);
      await sql.query('UPDATE definition_head SET version = version - 1');
      await sql.query(
        `CREATE OR REPLACE FUNCTION this_database(OUT place text, OUT timeline integer)
         LANGUAGE sql AS $$ SELECT '${before.place}', ${before.timeline + 1} $$`,
      );
    });
    await waitFor(() => first.follower.fresh() && first.follower.head?.epoch !== before.epoch);
    expect(stage.known(first, lost)).toBeUndefined();
    expect(stage.known(first, kept)).toBeDefined();
    expect((await head()).holds).toBe(true);
    expect(told).toEqual([]);
    expect(await refusal('second')).toBeUndefined();
  });

  it('is found to lack something by the process that saw it, although another one was first', async () => {
    const first = await started('first');
    const { epoch, version } = await head();
    await promote();
    await waitFor(async () => (await head()).epoch !== epoch);
    expect((await head()).holds).toBe(false);
    await owner.query('SELECT follow_promotion($1, $2, 0)', [epoch, Number(version) + 1]);
    expect((await head()).holds).toBe(true);
    // Once: rows that were released since then stay released.
    await owner.query('SELECT end_hold()');
    await owner.query('SELECT follow_promotion($1, $2, 0)', [epoch, Number(version) + 1]);
    expect((await head()).holds).toBe(false);
    await waitFor(() => first.follower.fresh());
  });
});

describe('a marker in Redis', () => {
  const marker: Marker = {
    place: '7000000000000000000/5',
    timeline: 3,
    seen: { epoch: randomUUID(), version: 12, pulse: 99 },
  };

  it('is read as it was written, by any key of the ring', () => {
    const installation = randomUUID();
    const text = formatMarker(stage.ring, installation, marker);
    expect(parseMarker(stage.ring, installation, text)).toEqual(marker);
  });

  it.each([
    ['another version', (text: string) => text.replace(':12 ', ':13 ')],
    ['another place', (text: string) => text.replace('/5 ', '/6 ')],
    ['another pulse', (text: string) => text.replace(' 99 ', ' 100 ')],
    ['no proof', (text: string) => text.slice(0, text.lastIndexOf(' '))],
    ['nothing that can be read', () => 'nothing'],
  ])('counts as none with %s', (_, change) => {
    const installation = randomUUID();
    const text = change(formatMarker(stage.ring, installation, marker));
    expect(parseMarker(stage.ring, installation, text)).toBeUndefined();
  });

  it('counts as none in another installation', () => {
    const text = formatMarker(stage.ring, randomUUID(), marker);
    expect(parseMarker(stage.ring, randomUUID(), text)).toBeUndefined();
  });
});
