import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connectDatabase, type Database } from '@glovebox/database';
import {
  enterTenant,
  fractionsFrom,
  startTcpRelay,
  startRedis,
  testSeed,
  waitFor,
  type TcpRelay,
} from '@glovebox/testing';
import { appendChanges, appendDefinition, type DefinitionConnection } from './index';
import { History } from './spec-history';
import { copyRedis, putBack, startStage, type RedisCopy, type Stage } from './spec-stage';

const lastsMs = 8_000;
const seed = testSeed();
const random = fractionsFrom(seed);
const between = (least: number, most: number): number => least + random() * (most - least);
const pick = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
};

/** A process with its own ways to the stores. */
interface Node {
  readonly writes: boolean;
  readonly connection: DefinitionConnection;
  readonly lines: readonly [postgres: TcpRelay, redis: TcpRelay];
}

let stage: Stage;
let raw: Redis;
let ended = false;
const nodes: Node[] = [];
const databases: Database[] = [];
const history = new History();
const ids = Array.from({ length: 6 }, () => randomUUID());
let written = 0;

async function startNode(options: { writes: boolean }): Promise<Node> {
  const lines = [
    await startTcpRelay(stage.database.dataUrl),
    await startTcpRelay(stage.redis.url),
  ] as const;
  const connection = stage.connect({
    ...options,
    databaseUrl: lines[0].url,
    redisUrl: lines[1].url,
    postgresAwayMaxMs: 60_000,
  });
  await connection.start();
  const node = { writes: options.writes, connection, lines };
  nodes.push(node);
  return node;
}

beforeAll(async () => {
  stage = await startStage();
  raw = new Redis(stage.redis.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  raw.on('error', () => undefined);
});

afterAll(async () => {
  raw.disconnect();
  await Promise.all(nodes.flatMap(({ lines }) => lines.map((line) => line.close())));
  await Promise.all(databases.map((database) => database.close()));
  await stage.close();
});

/** Changes resources as the management API does: commits, announces, and then answers. */
async function keepWriting({ connection, lines: [line] }: Node): Promise<void> {
  const url = new URL(line.url);
  const { username, password } = new URL(stage.database.managementUrl);
  Object.assign(url, { username, password });
  const database = connectDatabase({
    url: url.href,
    app: 'history',
    connectionsMax: 2,
    statementTimeoutMs: 800,
  });
  databases.push(database);
  while (!ended) {
    const id = pick(ids);
    written += 1;
    const value = random() < 0.4 ? undefined : `state ${written}`;
    await change(database, id, value)
      .then(async (state) => {
        await connection.announce(state.version);
        history.acknowledged(id, state);
      })
      .catch(() => undefined);
    await delay(between(5, 80));
  }
}

async function change(database: Database, id: string, value: string | undefined) {
  const { tenantId, ring } = stage;
  return database.transaction(async (sql) => {
    await enterTenant(sql, tenantId);
    const version = await (value === undefined
      ? appendChanges(sql, ring, [], [{ kind: 'reactor', id, tenantId }])
      : appendDefinition(sql, ring, stage.reactor(id, { value })));
    history.wrote(id, { version, value });
    return { version, value };
  });
}

const copies: RedisCopy[] = [];

let restarting = false;
async function restartRedis(): Promise<void> {
  if (restarting) return;
  restarting = true;
  const { port } = stage.redis;
  await stage.redis.kill();
  await delay(between(0, 1_200));
  stage.redis = await startRedis({ port });
  restarting = false;
}

async function breakFor(lines: readonly TcpRelay[], how: 'cut' | 'stall'): Promise<void> {
  await Promise.all(lines.map(async (line) => line[how]()));
  await delay(between(50, 2_200));
  await Promise.all(lines.map((line) => line.restore()));
}

const ofPostgres = (): TcpRelay[] => nodes.map(({ lines: [line] }) => line);
const ofRedis = (): TcpRelay[] => nodes.map(({ lines: [, line] }) => line);
const ofWriters = (): TcpRelay[] =>
  nodes.filter(({ writes }) => writes).map(({ lines: [, line] }) => line);
const some = (lines: readonly TcpRelay[]): TcpRelay[] => lines.filter(() => random() < 0.5);

const faults: readonly (() => Promise<unknown>)[] = [
  () => raw.client('KILL', 'TYPE', 'PUBSUB'),
  () => raw.flushall(),
  async () => copies.push(await copyRedis(raw)),
  async () => copies.length > 0 && putBack(raw, pick(copies)),
  restartRedis,
  () => breakFor(some(ofRedis()), 'stall'),
  () => breakFor(some(ofRedis()), 'cut'),
  () => breakFor(some(ofPostgres()), 'stall'),
  () => breakFor(some(ofPostgres()), 'cut'),
  () => breakFor(ofPostgres(), 'cut'),
  // No message tells of changes, and they are acknowledged all the same.
  () => breakFor(ofWriters(), 'cut'),
  () => breakFor(ofWriters(), 'stall'),
  () => breakFor([...some(ofPostgres()), ...some(ofRedis())], pick(['cut', 'stall'])),
];

async function keepBreaking(): Promise<void> {
  while (!ended) {
    await pick(faults)();
    await delay(between(0, 400));
  }
}

async function keepChecking(check: () => void): Promise<void> {
  while (!ended) {
    check();
    await delay(10);
  }
}

it('no follower is ever a second behind an acknowledgement or goes back', async () => {
  const writers = [await startNode({ writes: true }), await startNode({ writes: true })];
  const gateways = [
    await startNode({ writes: false }),
    await startNode({ writes: false }),
    await startNode({ writes: false }),
  ];
  const checks = gateways.map(({ connection }, place) =>
    history.watch(`follower ${place}`, connection.follower, stage.tenantId),
  );
  const atWork = [
    ...writers.map(keepWriting),
    ...checks.map(keepChecking),
    keepBreaking(),
    // Two at once: what one fault breaks, another must not mend.
    keepBreaking(),
  ];
  await delay(lastsMs);
  // On a busy machine it takes longer until there is something to judge by.
  const enough = (): boolean => history.acknowledgements > 20 && history.checks > 100;
  await waitFor(enough, { timeoutMs: 30_000 }).finally(() => (ended = true));
  await Promise.all(atWork);
  await Promise.all([...ofPostgres(), ...ofRedis()].map((line) => line.restore()));

  expect({ seed, violations: history.violations.slice(0, 5) }).toEqual({ seed, violations: [] });
  await expectOneTruth(gateways);
});

/** A commit that a stalled line held up may land behind the last write: newer is right as well. */
async function expectOneTruth(gateways: readonly Node[]): Promise<void> {
  const version = await stage.write(stage.reactor(randomUUID()));
  await waitFor(
    async () => {
      await Promise.all(gateways.map(({ connection }) => connection.follower.current()));
      const heads = gateways.map(({ connection }) => connection.follower.head?.version ?? 0);
      return heads.every((head) => head >= version);
    },
    { timeoutMs: 20_000 },
  );
}
