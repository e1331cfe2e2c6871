import { Client } from 'pg';
import { call, create, reactorOf, runningProduct } from './product';
import { startReceiver, type Receiver } from './receiver';

const product = runningProduct();
const { baseUrl } = product;
const permissions = ['token:create', 'token:read', 'token:search', 'token:use'];
const value = `value-${crypto.randomUUID()}`;
let receiver: Receiver;
let postgres: Client;
let application: { id: string; key: string };
let tokenId: string;
let proxyKey: string;
let reactorId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  postgres = new Client({ connectionString: product.databaseUrl });
  await postgres.connect();
  const { id, key } = await create(product, '/applications', {
    name: 'not recorded',
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions }],
  });
  application = { id, key: String(key) };
  tokenId = (await create(product, '/tokens', { data: value }, application.key)).id;
  const body = { name: 'not recorded', destination_url: receiver.url };
  proxyKey = String((await create(product, '/proxies', body)).key);
  reactorId = await reactorOf(product, 'module.exports = ({ args }) => ({ raw: args })');
  await postgres.query(`CREATE SCHEMA audit_away`);
});

afterAll(async () => {
  await postgres.query(`DROP SCHEMA IF EXISTS audit_away CASCADE`);
  await postgres.end();
  await receiver.close();
});

/** For this application only: other specs use the same product at the same time. */
async function withoutAudit(sqlState: string, work: () => Promise<void>): Promise<void> {
  await postgres.query(`
    CREATE FUNCTION audit_away.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'not written' USING ERRCODE = '${sqlState}'; END $$;
    CREATE TRIGGER audit_away BEFORE INSERT ON audit_log FOR EACH ROW
      WHEN (NEW.actor_id = '${application.id}') EXECUTE FUNCTION audit_away.refuse()`);
  try {
    await work();
  } finally {
    await postgres.query('DROP FUNCTION audit_away.refuse CASCADE');
  }
}

const uses: [string, () => ReturnType<typeof call>][] = [
  ['a proxy call with an expression', () => throughProxy({ a: `{{${tokenId}}}` })],
  ['/detokenize', () => ask('POST', '/detokenize', { a: `{{${tokenId}}}` })],
  ['a token that is revealed', () => ask('GET', `/tokens/${tokenId}`)],
  ['a list with data', () => ask('GET', `/tokens?id=${tokenId}`)],
  ['a search with data', () => ask('POST', '/tokens/search', { query: `id:${tokenId}` })],
  [
    'a reactor with a token',
    () => ask('POST', `/reactors/${reactorId}/react`, { args: { a: `{{${tokenId}}}` } }),
  ],
];

const ask = (method: string, path: string, body?: unknown): ReturnType<typeof call> =>
  call(method, `${baseUrl}${path}`, {
    key: application.key,
    ...(body === undefined ? {} : { body }),
  });

const throughProxy = (body: unknown): ReturnType<typeof call> =>
  call('POST', `${baseUrl}/proxy`, {
    key: application.key,
    headers: { 'SVC-PROXY-KEY': proxyKey },
    body,
  });

const refusal = {
  title: 'The service is not available at the moment.',
  status: 503,
  code: 'service_unavailable',
};

// SQL states of a missing privilege, a full disk, a failing disk.
describe.each(['42501', '53100', '58030'])('an audit log that fails with %s', (sqlState) => {
  it('lets no data out unrecorded, and plain calls go on', async () => {
    await withoutAudit(sqlState, async () => {
      for (const [use, start] of uses) {
        const before = receiver.received.length;
        const { status, text, body, headers } = await start();
        expect([use, status, body.proxy_error ?? body]).toMatchObject([use, 503, refusal]);
        expect([use, headers.get('retry-after')]).toEqual([use, '1']);
        expect(text).not.toContain(value);
        expect(receiver.received).toHaveLength(before);
      }
      expect((await throughProxy({ plain: true })).status).toBe(200);
      expect((await ask('POST', `/reactors/${reactorId}/react`, { args: {} })).status).toBe(200);
    });
    for (const [use, start] of uses) expect([use, (await start()).status]).toEqual([use, 200]);
  });
});
