import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';
import {
  filePlaces,
  foldersOf,
  postgresPlaces,
  processPlaces,
  RedisMonitor,
  redisPlaces,
  type Place,
} from './planted-places';
import { useForwardMode } from './planted-forward';
import { PlantedSearch, type Find } from './planted-search';
import { PlantedSecrets } from './planted-secrets';
import { plantEverything, type PlantedResources } from './planted-resources';
import { readCaptures, readRuns, refuseEverything, useEverything } from './planted-uses';
import { call, devFile, runningProduct, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';

const product = runningProduct();
/** Files in which the set-up for developers keeps the keys that it made. */
const setUpFiles = ['dev.json', 'demo-tenants.json'];
const secrets = new PlantedSecrets();
const processes: Place[] = [];
let receiver: Receiver;
let monitor: RedisMonitor;
let planted: PlantedResources;
let asked: Place;
let search: PlantedSearch;
let refusals: readonly Place[];
let forwarded: readonly Place[];

function lookAtProcesses(): void {
  const pids = Object.values(product.pids);
  for (const place of processPlaces(pids)) processes.push(place);
}

beforeAll(async () => {
  receiver = await startReceiver();
  monitor = await RedisMonitor.start(product.redisUrl);
  secrets.add('set-up: management key', product.adminKey);
  secrets.add('set-up: private key', product.privateKey);
  planted = await plantEverything(product, secrets, receiver.url);
  await useEverything(product, secrets, planted, receiver, lookAtProcesses);
  forwarded = await useForwardMode(product, secrets, planted);
  refusals = await refuseEverything(product, secrets, planted, receiver.url);
  lookAtProcesses();
  await allIsWritten();
  asked = monitor.end();
  search = new PlantedSearch(secrets.all);
});

afterAll(async () => {
  monitor.end();
  await receiver.close();
});

/** Waits until Redis has the change, the log has the last line, and a webhook was tried in vain. */
async function allIsWritten(): Promise<void> {
  const { headers } = await call('GET', `${product.baseUrl}/proxy`, { key: planted.key });
  const traceId = headers.get('svc-trace-id') ?? '';
  const log = join(dirname(devFile()), 'logs', 'gateway.log');
  await until(() => Promise.resolve(readFileSync(log).includes(traceId)));
  await until(() => Promise.resolve(monitor.saw(planted.proxyId)));
  const postgres = new Client({ connectionString: product.databaseUrl });
  await postgres.connect();
  try {
    await until(async () => {
      const tried = await postgres.query(
        `SELECT 1 FROM webhook_deliveries
         WHERE reactor_id = $1 AND status = 'pending' AND attempts > 0`,
        [planted.reactorId],
      );
      const captured = await postgres.query('SELECT 1 FROM captures WHERE proxy_id = $1 LIMIT 9', [
        planted.proxyId,
      ]);
      const counted = await postgres.query('SELECT 1 FROM call_summary WHERE proxy_id = $1', [
        planted.proxyId,
      ]);
      return tried.rows.length > 0 && counted.rows.length > 0 && captured.rows.length > 8;
    }, 30_000);
  } finally {
    await postgres.end();
  }
}

function findsIn(places: Iterable<Place>): Find[] {
  const found: Find[] = [];
  for (const [name, bytes] of places) found.push(...search.in(name, bytes));
  return found;
}

/** Checks that the search saw the right place: it holds a text that must be there. */
function expectSeen(places: readonly Place[], name: RegExp, text: string): void {
  const seen = places.filter(([place]) => name.test(place));
  expect(seen.some(([, bytes]) => bytes.includes(text))).toBe(true);
}

it('no secret is in any column of Postgres', async () => {
  const places = await postgresPlaces(product.databaseUrl);
  expectSeen(places, /public\.tokens/, planted.tokens.text);
  expectSeen(places, /public\.proxies/, planted.proxyId);
  expectSeen(places, /public\.ended_runs/, planted.reactorId);
  expectSeen(places, /public\.calls/, planted.proxyId);
  expectSeen(places, /public\.captures/, planted.proxyId);
  expectSeen(places, /public\.call_summary/, planted.proxyId);
  expectSeen(places, /public\.audit_log/, planted.tokens.text);
  expect(findsIn(places)).toEqual([]);
});

it('no secret is in what is told of a run', async () => {
  const runs = await readRuns(product, planted);
  for (const text of ['"stack"', '[redacted]","line"', ': return raw', 'is not available']) {
    expectSeen(runs, /run/, text);
  }
  expect(findsIn(runs)).toEqual([]);
});

it('no secret is in what is told of captured calls', async () => {
  const captures = await readCaptures(product, planted);
  for (const text of ['"sent"', '"received"', '<hidden>', planted.tokens.text]) {
    expectSeen(captures, /capture/, text);
  }
  expect(findsIn(captures)).toEqual([]);
});

it('no secret is in Redis, nor was it ever sent there', async () => {
  const places = await redisPlaces(product.redisUrl);
  expectSeen(places, /definitions/, planted.proxyId);
  expectSeen([asked], /MONITOR/, planted.proxyId);
  expect(findsIn([asked, ...places])).toEqual([]);
});

it('no secret is in a log or in another file of the product', () => {
  const logs: Place[] = [];
  const files = foldersOf(product).flatMap((folder) => {
    const finds: Find[] = [];
    for (const [path, bytes] of filePlaces(folder)) {
      if (path.endsWith('.log')) logs.push([path, bytes]);
      finds.push(...findsIn([[path, bytes]]));
    }
    return finds;
  });
  for (const app of ['gateway', 'management-api', 'worker', 'runner']) {
    expectSeen(logs, new RegExp(`${app}\\.log$`), `"app":"${app}"`);
  }
  expectSeen(logs, /gateway\.log$/, planted.proxyId);
  const isSetUp = ({ place, secret }: Find): boolean =>
    secret.startsWith('set-up') && setUpFiles.includes(basename(place));
  expect(files.filter((find) => !isSetUp(find))).toEqual([]);
  expect(files.filter(isSetUp).map(({ place }) => basename(place))).toContain('dev.json');
});

it('no secret is in a command line or an environment', () => {
  expectSeen(processes, /cmdline/, 'gateway');
  expectSeen(processes, /environ/, 'RUNNER_SECRET');
  expect(findsIn(processes)).toEqual([]);
});

it('no secret comes back through forward mode', () => {
  expect(forwarded).toHaveLength(2);
  expectSeen(forwarded, /forward mode/, planted.tokens.text);
  // `scrub` looks for what expressions were replaced by.
  const isLiteral = ({ secret }: Find): boolean => secret === 'literal of a step';
  expect(findsIn(forwarded).filter((find) => !isLiteral(find))).toEqual([]);
});

it('no refusal repeats a secret', () => {
  expect(findsIn(refusals)).toEqual([]);
});
