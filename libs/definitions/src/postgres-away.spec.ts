import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { connectDatabase } from '@glovebox/database';
import { parseKeyRing } from '@glovebox/seal';
import { startTcpRelay, waitFor } from '@glovebox/testing';
import { isProven, proofOf, questionChannel, writersKey, WriterSigns } from './postgres-away';
import { startStage, type Stage } from './spec-stage';

/** A hundred signs and thousands of messages. */
const busyMachine = { timeoutMs: 60_000 };

describe('the proof that Postgres refused a writer', () => {
  const key = (): string => randomBytes(32).toString('base64');
  const [first, second] = [`1:${key()}`, `2:${key()}`];
  const known = { epoch: randomUUID(), version: 4 };
  const refusal = { writer: 'w', known, asker: 'a', ticket: 't' };

  it('holds for this writer, version, asker and ticket alone', () => {
    const ring = parseKeyRing(first);
    const proof = proofOf(ring, refusal);
    expect(isProven(ring, refusal, proof)).toBe(true);
    const others = [
      { writer: 'v' },
      { known: { ...known, version: 5 } },
      { known: { ...known, epoch: randomUUID() } },
      { asker: 'b' },
      { ticket: 'u' },
    ];
    for (const other of others) expect(isProven(ring, { ...refusal, ...other }, proof)).toBe(false);
    for (const forged of ['', ',', '1:', `1:${key()}`, `3:${key()}`]) {
      expect(isProven(ring, refusal, forged)).toBe(false);
    }
  });

  it('holds for a ring that has one key in common with the writer', () => {
    const both = parseKeyRing(`${first},${second}`);
    expect(isProven(parseKeyRing(first), refusal, proofOf(both, refusal))).toBe(true);
    expect(isProven(both, refusal, proofOf(parseKeyRing(second), refusal))).toBe(true);
    expect(isProven(parseKeyRing(first), refusal, proofOf(parseKeyRing(second), refusal))).toBe(
      false,
    );
  });
});

describe('the list of writers', () => {
  let stage: Stage;
  let raw: Redis;

  beforeAll(async () => {
    stage = await startStage();
    raw = new Redis(stage.redis.url);
  });
  afterAll(async () => {
    raw.disconnect();
    await stage.close();
  });

  it('forgets a killed writer after many signs of another, and none while Postgres is away', async () => {
    const line = await startTcpRelay(stage.database.dataUrl);
    const sql = connectDatabase({ url: line.url, app: 'spec', connectionsMax: 1 });
    const subscriber = raw.duplicate();
    const signs = new WriterSigns({
      sql,
      ring: stage.ring,
      redis: raw,
      subscriber,
      follower: { head: undefined },
      signIntervalMs: 5,
      onFault: () => (faults += 1),
    });
    let faults = 0;
    await signs.start();
    await line.cut();
    await raw.hset(writersKey, 'killed', '7');
    await waitFor(() => faults > 100, busyMachine);
    expect(await raw.hkeys(writersKey)).toContain('killed');
    await line.restore();
    await waitFor(async () => !(await raw.hexists(writersKey, 'killed')), busyMachine);
    expect(await raw.hlen(writersKey)).toBe(1);
    await signs.stop();
    expect(await raw.hlen(writersKey)).toBe(0);
    subscriber.disconnect();
    await sql.close();
    await line.close();
  });

  it('takes a thousand questions at a time, and no message that is none', async () => {
    let isRefused = true;
    const held: (() => void)[] = [];
    const sql = {
      query: () =>
        new Promise<never>((_, reject) => {
          const refuse = (): void =>
            reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
          if (isRefused) refuse();
          else held.push(refuse);
        }),
    };
    const [subscriber, answers] = [raw.duplicate(), raw.duplicate()];
    const signs = new WriterSigns({
      sql,
      ring: stage.ring,
      redis: raw,
      subscriber,
      follower: { head: { epoch: randomUUID(), version: 1 } },
      signIntervalMs: 60_000,
      onFault: () => undefined,
    });
    let [asked, heard, answered] = [0, 0, 0];
    subscriber.on('message', () => (heard += 1));
    answers.on('pmessage', () => (answered += 1));
    await answers.psubscribe('{glovebox}:definitions:refusals:*');
    await signs.start();
    isRefused = false;
    const ask = async (question = `${randomUUID()} ${randomUUID()}`): Promise<void> => {
      const receivers = await raw.publish(questionChannel, question);
      asked += receivers;
    };
    // The first is taken at once. The others wait as long as Postgres takes to refuse.
    await waitFor(async () => {
      await ask();
      return held.length > 0;
    });
    await ask('none');
    await Promise.all(Array.from({ length: 3_000 }, () => ask()));
    await waitFor(() => heard === asked, busyMachine);
    isRefused = true;
    for (const refuse of held) refuse();
    await signs.stop();
    await waitFor(() => answered >= 1_001, busyMachine);
    expect(answered).toBe(1_001);
    answers.disconnect();
    subscriber.disconnect();
  });
});
