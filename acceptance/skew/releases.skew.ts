import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { rewriteDefinition, type DefinitionPayload } from '@glovebox/testing';
import { paste, repository } from '../documents/pasting';
import { expectShown, samplesIn, toursOf } from '../documents/samples';
import { startOwnProduct, type OwnProduct } from '../own-product';
import { call, create, reactorOf, scriptEnvironment, until } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { buildRelease, exchangeOrder, MixedFleet, type App } from './mixed-fleet';

const keyRing = `1:${randomBytes(32).toString('base64')}`;
const cardNumber = '4242424242424242';
/** A version that this release reads and the newest release before it, 0.1.0, does not. */
const ofThisRelease = 3;
/** A version that no release reads. */
const ofLater = 1_000;

let release: Awaited<ReturnType<typeof buildRelease>>;
let product: OwnProduct;
let fleet: MixedFleet;
let receiver: Receiver;
let token: string;

beforeAll(async () => {
  [release, product, receiver] = await Promise.all([
    buildRelease(),
    // Its start takes the database to the schema of this release.
    startOwnProduct({ KEY_RING: keyRing }),
    startReceiver(),
  ]);
  const allNew = { runner: 'new', worker: 'new', gateway: 'new', 'management-api': 'new' } as const;
  fleet = await MixedFleet.start(product, release.folder, allNew, 2);
  product = { ...product, baseUrl: fleet.url };
  ({ id: token } = await create(
    product,
    '/tokens',
    { type: 'card', data: { number: cardNumber, expiration_month: 12, expiration_year: 2030 } },
    product.privateKey,
  ));
}, 180_000);

afterAll(async () => {
  await fleet.end();
  await product.stop();
  await receiver.close();
  release.remove();
});

/** Takes the tour of the README through the gateways of the fleet. */
async function takeTour(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-tour-'));
  try {
    chmodSync(folder, 0o711);
    writeFileSync(join(folder, 'dev.json'), JSON.stringify(product));
    const tour = toursOf(samplesIn(join(repository, 'README.md')));
    const blocks = tour.map(({ block }) => block);
    const environment = { ...scriptEnvironment(), GLOVEBOX_DIR: folder };
    expectShown(await paste(blocks, {}, environment), tour);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A proxy that masks the card on its way out. */
async function maskingProxy(): Promise<{ readonly id: string; readonly key: string }> {
  const expression = '{{ $.card.number | reveal_last: 4 }}';
  const { id, key } = await create(product, '/proxies', {
    name: 'masking',
    destination_url: `${receiver.url}/masked`,
    request_transforms: [{ type: 'mask', options: { path: '$.card.number', expression } }],
  });
  return { id, key: String(key) };
}

const throughProxy = (proxyKey: string, url = fleet.url, key = product.privateKey) =>
  call('POST', `${url}/proxy`, {
    key,
    headers: { 'SVC-PROXY-KEY': proxyKey },
    body: { card: `{{${token}}}` },
  });

const rewrite = (kind: string, id: string, change: (payload: DefinitionPayload) => object) =>
  rewriteDefinition({ adminUrl: product.databaseUrl, keyRing }, { kind, id }, (payload) => ({
    ...payload,
    ...change(payload),
  }));

interface Refusal {
  readonly code?: string;
  readonly proxy_error?: { readonly code: string };
}

const codeOf = ({ status, text }: { status: number; text: string }): string => {
  const { proxy_error: ofProxy, code = ofProxy?.code ?? '' } = JSON.parse(text || '{}') as Refusal;
  return `${status} ${code}`.trim();
};

/** Polls: a process takes up to a second to follow the log. */
const answers = (ask: () => ReturnType<typeof call>, expected: string): Promise<void> =>
  until(async () => codeOf(await ask()) === expected);

const sent = (path: string) => receiver.received.filter(({ url }) => url === path);
const raw = () => receiver.received.filter(({ body }) => body.includes(cardNumber));

describe.each<[string, App]>([
  ['an old gateway beside a new management API', 'gateway'],
  ['a new gateway beside an old management API', 'management-api'],
  ['an old runner beside new gateways and workers', 'runner'],
  ['an old worker beside a new management API', 'worker'],
])('%s', (_, app) => {
  beforeAll(() => fleet.exchange(app, 'old'));
  afterAll(() => fleet.exchange(app, 'new'));

  it('carry out the tour of the README', takeTour);
});

describe('a definition of this release', () => {
  afterAll(() => fleet.exchange('gateway', 'new'));

  it('is used by a gateway of this release, and nothing of it by an old one', async () => {
    const proxy = await maskingProxy();
    await rewrite('proxy', proxy.id, () => ({ v: ofThisRelease }));
    const before = sent('/masked').length;
    await until(async () => (await throughProxy(proxy.key)).status === 200);
    expect(sent('/masked').length).toBeGreaterThan(before);
    await fleet.exchange('gateway', 'old');
    const masked = sent('/masked').length;
    // 0.1.0 does not know of newer definitions: it answers as if there was none.
    await answers(() => throughProxy(proxy.key), '404 not_found');
    expect(sent('/masked')).toHaveLength(masked);
    expect(raw()).toEqual([]);
  });
});

describe('a definition of a later release', () => {
  it.each<[string, (payload: DefinitionPayload) => object]>([
    ['with a version that is not known here', () => ({ v: ofLater })],
    [
      'with a step that is not known here',
      ({ definition }) => ({
        definition: { ...definition, requestSteps: [{ type: 'scramble', options: {} }] },
      }),
    ],
  ])('%s is refused as one, and nothing leaves', async (_, change) => {
    const proxy = await maskingProxy();
    const other = await maskingProxy();
    await rewrite('proxy', proxy.id, change);
    await answers(() => throughProxy(proxy.key), '503 newer_definition');
    expect((await throughProxy(other.key)).status).toBe(200);
    expect(raw()).toEqual([]);
    // Each gateway takes up to a second.
    await until(async () => !(await newerIn('gateway')).includes(0));
    expect(fleet.logsOf('gateway', 'new')).toContain(proxy.id);
  });

  it('of an application is refused by gateway and management API, and a change of it as well', async () => {
    const application = await create(product, '/applications', {
      name: 'later',
      type: 'private',
      permissions: ['token:use', 'token:create'],
    });
    const key = String(application.key);
    const proxy = await maskingProxy();
    const asIt = () => throughProxy(proxy.key, fleet.url, key);
    const creates = () =>
      call('POST', `${fleet.url}/tokens`, { key, body: { type: 'token', data: 1 } });
    expect([(await asIt()).status, (await creates()).status]).toEqual([200, 201]);
    await rewrite('application', application.id, () => ({ v: ofLater }));
    await answers(asIt, '503 newer_definition');
    await answers(creates, '503 newer_definition');
    const changed = await call('PATCH', `${fleet.url}/applications/${application.id}`, {
      key: product.adminKey,
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: { permissions: ['token:use'] },
    });
    expect(codeOf(changed)).toBe('503 newer_definition');
  });
});

it('a run whose formula an old worker cannot read stays due, and a worker of this release carries it out', async () => {
  const reactor = await reactorOf(product, 'module.exports = async () => ({ raw: 1 });');
  const found = await call('GET', `${fleet.url}/reactors/${reactor}`, { key: product.adminKey });
  const { id: formula } = found.body.formula as { id: string };
  await rewrite('formula', formula, () => ({ v: ofThisRelease }));
  // Only those that start after it was written know it for certain.
  await fleet.exchange('worker', 'old');
  const accepted = await call('POST', `${fleet.url}/reactors/${reactor}/react`, {
    key: product.privateKey,
    body: { args: {}, callback_url: `${receiver.url}/later` },
  });
  expect(accepted.status).toBe(202);
  await until(async () => (await releasedBy('old')) > 0);
  expect(sent('/later')).toEqual([]);
  await fleet.exchange('worker', 'new');
  await until(() => Promise.resolve(sent('/later').length === 1), 30_000);
});

/** Definitions that each new process of the app is too old for. */
const newerIn = (app: App): Promise<number[]> =>
  Promise.all(
    fleet.opsUrlsOf(app, 'new').map(async (url) => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return Number(/^glovebox_definitions_newer\{[^}]*\} (\d+)/m.exec(metrics)?.[1]);
    }),
  );

/** Runs that the workers of a release have given back without a fault. */
async function releasedBy(ofRelease: 'old' | 'new'): Promise<number> {
  const counts = fleet.opsUrlsOf('worker', ofRelease).map(async (url) => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return Number(/released_total\{[^}]*reason="later"[^}]*\} (\d+)/.exec(metrics)?.[1] ?? 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const callsPerSecond = 200;
const callsMin = 10_000;
const callsAtOnceMax = 64;

it('10,000 calls at up to 200 a second all succeed while each app is exchanged for the new release and back, and no run is lost', async () => {
  for (const app of exchangeOrder) await fleet.exchange(app, 'old');
  const proxy = await maskingProxy();
  const adding = 'module.exports = async ({ args }) => ({ raw: args.card.number.slice(-4) });';
  const reactor = await reactorOf(product, adding);
  const { privateKey: key } = product;
  const react = `${fleet.url}/reactors/${reactor}/react`;
  const args = { card: `{{${token}}}` };
  const accepted: string[] = [];
  const failures: string[] = [];
  const expectStatus = async (asked: ReturnType<typeof call>, status: number) => {
    const answer = await asked;
    if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`);
    return answer;
  };
  const kinds: readonly (() => Promise<unknown>)[] = [
    ...Array.from({ length: 5 }, () => () => expectStatus(throughProxy(proxy.key), 200)),
    () => expectStatus(call('POST', react, { key, body: { args } }), 200),
    () => expectStatus(call('GET', `${fleet.url}/tokens/${token}`, { key }), 200),
    () =>
      expectStatus(call('GET', `${fleet.url}/proxies/${proxy.id}`, { key: product.adminKey }), 200),
    () => create(product, '/tokens', { type: 'token', data: 'written' }, key),
    async () => {
      const body = { args, callback_url: `${receiver.url}/hooks` };
      const { body: answer } = await expectStatus(call('POST', react, { key, body }), 202);
      accepted.push(String(answer.async_request_id));
    },
  ];

  let calls = 0;
  const underWay = new Set<Promise<void>>();
  /** A machine that is too slow for the rate must not have ever more calls under way. */
  const hasRoom = (): boolean => underWay.size < callsAtOnceMax;
  const begun = performance.now();
  const timer = setInterval(() => {
    // A tick may come late: the rate holds on the whole.
    while (calls < ((performance.now() - begun) / 1_000) * callsPerSecond && hasRoom()) {
      const nth = (calls += 1);
      const made = kinds[nth % kinds.length]?.()
        .then(() => undefined)
        .catch((error: unknown) => {
          const at = ((performance.now() - begun) / 1_000).toFixed(1);
          failures.push(`call ${nth} at ${at} s: ${inspect(error)}`);
        });
      if (!made) throw new Error('there is no kind of call');
      underWay.add(made);
      void made.finally(() => underWay.delete(made));
    }
  }, 5);
  try {
    for (const direction of ['new', 'old'] as const) {
      for (const app of direction === 'old' ? [...exchangeOrder].reverse() : exchangeOrder) {
        await fleet.exchange(app, direction);
      }
    }
    await until(() => Promise.resolve(calls >= callsMin), 120_000);
  } finally {
    clearInterval(timer);
  }
  const rate = calls / ((performance.now() - begun) / 1_000);
  await Promise.all(underWay);
  const delivered = () =>
    new Set(sent('/hooks').map(({ headers }) => String(headers['webhook-id'])));
  const lost = () => accepted.filter((id) => !delivered().has(`msg_${id}`));
  await until(() => Promise.resolve(lost().length === 0), 60_000).catch(() => undefined);
  process.stdout.write(
    `${failures.length} of ${calls} calls failed at ${rate.toFixed(0)} a second; ` +
      `${lost().length} of ${accepted.length} runs lost; ${raw().length} raw\n`,
  );
  expect({ failures, lost: lost(), raw: raw() }).toEqual({ failures: [], lost: [], raw: [] });
  expect(calls).toBeGreaterThanOrEqual(callsMin);
}, 400_000);
