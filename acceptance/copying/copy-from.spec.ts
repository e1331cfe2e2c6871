import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOwnTenant } from '../own-tenant';
import { call, create, revealingApplication, runningProduct, scriptEnvironment } from '../product';
import { startReceiver, type Receiver } from '../receiver';
import { startOtherApi, type OtherApi, type OtherResources } from './other-api';

const product = runningProduct();
const { baseUrl } = product;
const tools = join(__dirname, '../../tools');
const secret = 'never-in-an-output-nor-in-a-file';

/** The tenant that everything is copied to. */
let adminKey: string;
let vaultKey: string;
let receiver: Receiver;
const others: OtherApi[] = [];
beforeAll(async () => {
  adminKey = (await createOwnTenant('copy')).management_key;
  const permissions = ['create', 'read', 'use'];
  vaultKey = String((await revealingApplication(product, permissions, adminKey)).key);
  receiver = await startReceiver();
});
afterAll(async () => {
  await Promise.all([receiver.close(), ...others.map((other) => other.close())]);
});

const reveals = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] };
const reader = { id: randomUUID(), name: 'reader', permissions: [], rules: [reveals] };
const noTokens = { count: 0, at: () => ({}) };

async function other(resources: Partial<OtherResources>): Promise<OtherApi> {
  const started = await startOtherApi({ tokens: noTokens, reader, ...resources });
  others.push(started);
  return started;
}

interface Copied {
  readonly code: number | null;
  readonly output: string;
  /** One for each line. */
  readonly said: readonly Record<string, unknown>[];
}

interface Copying {
  readonly input?: string;
  readonly killAfter?: () => Promise<void>;
}

async function copy(
  from: OtherApi,
  args: readonly string[] = [],
  { input = '', killAfter }: Copying = {},
): Promise<Copied> {
  const child = spawn(process.execPath, [join(tools, 'copy-from.mjs'), '--json', ...args], {
    env: {
      PATH: scriptEnvironment().PATH,
      FROM_URL: from.url,
      FROM_KEY: from.managementKey,
      FROM_TOKEN_KEY: from.tokenKey,
      GLOVEBOX_URL: baseUrl,
      GLOVEBOX_KEY: adminKey,
      GLOVEBOX_PRIVATE_KEY: vaultKey,
    },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<number | null>((done) => child.once('close', done));
  await killAfter?.();
  if (killAfter) child.kill('SIGKILL');
  const code = await ended;
  const said = stdout
    .split('\n')
    .filter((line) => line !== '' && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, said, output: stdout + stderr };
}

const sumOf = ({ said }: Copied, kind: string) => said.find(({ sum }) => sum === kind);
const get = async (path: string, key = adminKey) =>
  (await call('GET', `${baseUrl}${path}`, { key })).body;
const listed = async (path: string) =>
  (await get(`${path}?size=100`)).data as { id: string; name: string; key?: string }[];

describe('definitions', () => {
  const ids = Object.fromEntries(
    ['acting', 'limited', 'official', 'shared', 'old', 'new', 'orphan', 'proxy'].map((name) => [
      name,
      randomUUID(),
    ]),
  );
  const stamps = { tenant_id: randomUUID(), created_by: null, created_at: '2024-01-01T00:00:00Z' };
  const code =
    'module.exports = async ({ args, configuration }) => ({ raw: { n: args.n, k: configuration.KEY } })';
  const resources = (): Partial<OtherResources> => ({
    isBusy: true,
    applications: [
      {
        ...{ ...stamps, id: ids.acting, name: 'Checkout', type: 'private', permissions: [] },
        rules: [
          {
            ...{ description: 'cards', priority: 1, container: '/pci/', transform: 'reveal' },
            permissions: ['token:use', 'token:pan:read'],
          },
        ],
      },
      {
        ...{ ...stamps, id: ids.limited, name: 'Limited', type: 'private', permissions: [] },
        rules: [
          {
            ...reveals,
            conditions: [{ attribute: 'container', operator: 'starts_with', value: '/a/' }],
          },
        ],
      },
    ],
    formulas: [
      { ...stamps, id: ids.official, type: 'official', name: 'Official', code: null },
      {
        ...{ ...stamps, id: ids.shared, type: 'private', name: 'Shared', code },
        configuration: [{ name: 'KEY', description: null, type: 'string' }],
        request_parameters: [{ name: 'n', description: 'a number', type: 'number' }],
      },
    ],
    reactors: [
      {
        ...{ ...stamps, id: ids.old, name: 'Old reactor', formula: { id: ids.shared } },
        ...{ application: { id: ids.acting }, configuration: { KEY: secret } },
      },
      {
        ...{ ...stamps, id: ids.new, name: 'New reactor', code: `/* bt */ ${code}` },
        configuration: { KEY: secret },
        runtime: { image: 'node20', dependencies: { stripe: '1' }, timeout: 10 },
      },
      {
        ...{ ...stamps, id: ids.orphan, name: 'Orphan', formula: { id: ids.shared } },
        application: { id: ids.limited },
      },
    ],
    proxies: [
      {
        ...{ ...stamps, id: ids.proxy, key: 'proxy_key_of_the_other', name: 'Bank\u001b[2J' },
        ...{ destination_url: receiver.url, require_auth: true, application_id: ids.acting },
        ...{ configuration: { TOKEN: secret }, request_transform: null, timeout: 20 },
        request_transforms: [
          {
            type: 'code',
            code: 'module.exports = async ({ args: { headers, body }, configuration }) => ({ headers: { ...headers, "X-Token": configuration.TOKEN }, body })',
          },
        ],
      },
    ],
  });
  let from: OtherApi;
  let first: Copied;
  beforeAll(async () => {
    from = await other(resources());
    first = await copy(from, ['--only', 'applications,formulas,reactors,proxies']);
  });

  it('all that can be is copied, refers to what was copied, and works', async () => {
    expect(first.code).toBe(1);
    const reactors = await listed('/reactors');
    expect(reactors.map(({ name }) => name).sort()).toEqual(['New reactor', 'Old reactor']);
    for (const { id, name } of reactors) {
      const body = { args: { n: name === 'Old reactor' ? '7' : 7 } };
      const answer = await call('POST', `${baseUrl}/reactors/${id}/react`, { key: vaultKey, body });
      expect([answer.status, answer.body]).toEqual([200, { raw: { n: 7, k: secret } }]);
    }
    const proxies = await listed('/proxies');
    expect(proxies).toMatchObject([{ name: 'Bank\u001b[2J', timeout_ms: 20_000 }]);
    const headers = { 'SVC-PROXY-KEY': String(proxies[0]?.key) };
    const body = { a: 1 };
    expect((await call('POST', `${baseUrl}/proxy`, { key: vaultKey, headers, body })).status).toBe(
      200,
    );
    expect(receiver.received.at(-1)?.headers['x-token']).toBe(secret);
    const applications = await listed('/applications');
    const checkout = applications.find(({ name }) => name === 'Checkout');
    expect(checkout).toMatchObject({
      type: 'private',
      rules: [{ container: '/pci/', transform: 'reveal', permissions: ['token:use'] }],
    });
    expect(proxies).toMatchObject([{ application_id: checkout?.id }]);
  });

  it('what is not copied, or is not the same, is named with the reason', () => {
    const skipped = first.said.filter((line) => 'skipped' in line && !('sum' in line));
    expect(skipped).toEqual([
      { skipped: 'applications', from: ids.limited, why: expect.stringContaining('conditions') },
      { skipped: 'formulas', from: ids.official, why: expect.stringContaining('no code') },
      { skipped: 'reactors', from: ids.orphan, why: `its application ${ids.limited} is not here` },
    ]);
    const notes = first.said.flatMap(({ note, text }) => (note ? [text] : []));
    expect(notes).toEqual([
      'without token:pan:read, which Glovebox has not',
      'its packages have to be here: stripe',
      'its code says `bt`: `req.bt` is `req.svc` here',
      'its key is a new one: GET /proxies/{id} shows it',
    ]);
    expect(sumOf(first, 'reactors')).toMatchObject({ copied: 2, there: 0, skipped: 1 });
    expect(first.output).not.toContain('\u001b');
  });

  it('no key and no value is in the output', () => {
    for (const hidden of [secret, from.managementKey, from.tokenKey, adminKey, vaultKey, 'key_']) {
      expect(first.output).not.toContain(hidden);
    }
  });

  it('a second run makes nothing, also where names have changed', async () => {
    const renamed = await create(product, '/reactor-formulas', { name: 'mine', code }, adminKey);
    const before = await listed('/reactors');
    const changed = resources();
    const [old, ...rest] = changed.reactors ?? [];
    const again = await other({ ...changed, reactors: [{ ...old, name: 'Renamed' }, ...rest] });
    const second = await copy(again, ['--only', 'applications,formulas,reactors,proxies']);
    expect(sumOf(second, 'reactors')).toMatchObject({ copied: 0, there: 2, skipped: 1 });
    expect(sumOf(second, 'proxies')).toMatchObject({ copied: 0, there: 1 });
    expect(await listed('/reactors')).toEqual(before);
    expect(await listed('/reactor-formulas')).toHaveLength(3);
    expect((await get(`/reactor-formulas/${renamed.id}`)).name).toBe('mine');
  });
});

describe('tokens', () => {
  const tokenOf = (id: string, more: object = {}) => ({
    ...{ id, type: 'token', tenant_id: randomUUID(), data: `value of ${id}`, ...more },
    ...{ fingerprint: 'f', privacy: { impact_level: 'high' }, containers: ['/general/high/'] },
    ...{ metadata: { of: 'other' }, created_at: '2024-01-01T00:00:00Z', _extras: {} },
  });
  const many = (count: number, hasCursor: boolean) => {
    const ids = Array.from({ length: count }, () => randomUUID());
    return { ids, hasCursor, tokens: { count, at: (nth: number) => tokenOf(ids[nth] ?? '') } };
  };
  const tokens = ['--only', 'tokens'];

  it.each([
    ['a cursor', true],
    ['numbers', false],
  ])(
    'all pages by %s are copied with their ids, and a second run makes nothing',
    async (_, hasCursor) => {
      const { ids, ...resources } = many(130, hasCursor);
      const from = await other(resources);
      const first = await copy(from, tokens);
      expect([first.code, first.output.includes('value of')]).toEqual([0, false]);
      expect(sumOf(first, 'token')).toMatchObject({ copied: 130, there: 0, skipped: 0 });
      for (const id of [ids[0], ids[100], ids[129]]) {
        expect(await get(`/tokens/${id}`, vaultKey)).toMatchObject({
          ...{ id, data: `value of ${id}`, metadata: { of: 'other' } },
        });
      }
      expect(sumOf(await copy(from, tokens), 'token')).toMatchObject({ copied: 0, there: 130 });
    },
  );

  it('a copy that is killed goes on where it ended', async () => {
    const { ids, ...resources } = many(220, true);
    const from = await other(resources);
    const reached = async (): Promise<void> => {
      const isThere = async () =>
        (await call('GET', `${baseUrl}/tokens/${ids[120]}`, { key: vaultKey })).status === 200;
      while (!(await isThere()));
    };
    await copy(from, tokens, { killAfter: reached });
    const { copied, there } = sumOf(await copy(from, tokens), 'token') ?? {};
    expect(Number(copied) + Number(there)).toBe(220);
    expect(Number(there)).toBeGreaterThan(100);
    const { pagination } = await get(`/tokens?id=${ids.join('&id=')}&size=1`, vaultKey);
    expect(pagination).toMatchObject({ total_items: 220 });
  });

  it('texts are copied to the last character, and a number is never rounded', async () => {
    const ids = [randomUUID(), `custom-${randomUUID()}`, randomUUID()];
    const exact =
      '{"text":"\\u0000\\"1.0 \\\\ 12345678901234567890","deep":[0.1,1e2,-7],"one":1.0}';
    const data = [exact, JSON.stringify(secret), '[12345678901234567890]'];
    const at = (nth: number) => `{"id":"${ids[nth]}","type":"token","data":${data[nth]}}`;
    const copied = await copy(await other({ tokens: { count: 3, at } }), tokens);
    expect(copied.said).toEqual([
      {
        skipped: 'token',
        from: ids[2],
        why: expect.stringMatching(/number that cannot be kept exactly/),
      },
      expect.objectContaining({ copied: 2, skipped: 1 }),
    ]);
    expect((await get(`/tokens/${ids[0]}`, vaultKey)).data).toEqual(JSON.parse(exact));
    expect((await get(`/tokens/${ids[1]}`, vaultKey)).data).toBe(secret);
  });

  it('a value that the reading key sees masked is no value, and is skipped', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const all = [
      tokenOf(ids[0] ?? ''),
      { ...tokenOf(ids[1] ?? ''), containers: ['/pci/high/'], data: 'XXXX4242' },
      { ...tokenOf(ids[2] ?? ''), type: 'card', data: { number: '4242 is no card' } },
    ];
    const rules = [
      { ...reveals, priority: 2 },
      { ...reveals, container: '/pci/', transform: 'mask' },
    ];
    const from = await other({
      reader: { ...reader, rules },
      tokens: { count: 3, at: (nth) => all[nth] ?? {} },
    });
    const copied = await copy(from, tokens);
    expect(copied.code).toBe(1);
    expect(copied.said.filter((line) => 'skipped' in line && !('sum' in line))).toEqual([
      { skipped: 'token', from: ids[1], why: 'the reading key does not see its whole value' },
      { skipped: 'token', from: ids[2], why: expect.stringContaining('data.number') },
    ]);
    expect(sumOf(copied, 'token')).toMatchObject({ copied: 1, skipped: 2 });
    expect(copied.output).not.toContain('4242');
    expect((await call('GET', `${baseUrl}/tokens/${ids[1]}`, { key: vaultKey })).status).toBe(404);
  });

  it('an export is copied from a file and from standard input, and a broken line is not repeated', async () => {
    const ids = [randomUUID(), randomUUID()];
    const lines = ids.map((id) => JSON.stringify(tokenOf(id)));
    const from = await other({});
    const read = [...tokens, '--tokens-file', '-'];
    const first = await copy(from, read, { input: `${lines.join('\n')}\n` });
    expect(sumOf(first, 'token')).toMatchObject({ copied: 2 });
    const file = join(mkdtempSync(join(tmpdir(), 'glovebox-export-')), 'tokens.jsonl');
    writeFileSync(file, lines.join('\n'));
    const second = await copy(from, [...tokens, '--tokens-file', file]);
    expect(sumOf(second, 'token')).toMatchObject({ copied: 0, there: 2 });
    const broken = await copy(from, read, { input: `${lines[0]}\n{"data":"${secret}"` });
    expect(broken.code).toBe(1);
    expect(broken.output).toContain('line 2');
    expect(broken.output).not.toContain(secret);
    expect(from.asked).toEqual([]);
  });

  it('keys come from standard input as well, and a wrong one ends the copy without being shown', async () => {
    const from = await other({});
    const input = `FROM_TOKEN_KEY=${secret}\n`;
    const refused = await copy(from, [...tokens, '--keys-from-stdin'], { input });
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('does not know the key');
    expect(refused.output).not.toContain(secret);
  });
});
