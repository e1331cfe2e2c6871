import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Client } from 'pg';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';

const api = useTestApi();

interface Rule {
  readonly description: string;
  readonly priority: number;
  readonly container: string;
  readonly transform: string;
  readonly permissions: readonly string[];
}

const rule = (container: string, transform: string, permissions = ['token:create']): Rule => ({
  description: 'a rule',
  priority: 1,
  container,
  transform,
  permissions,
});

interface Application {
  readonly id: string;
  readonly key: string;
}

async function application(rules: readonly Rule[]): Promise<Application> {
  const body = { name: 'key', type: 'private', permissions: [], rules };
  return (await api.post('/applications', body)).body as Application;
}

async function change({ id }: Application, changes: object): Promise<void> {
  expect((await api.patch(`/applications/${id}`, changes)).status).toBe(204);
}

describe('an answer that is sent again', () => {
  const header = 'SVC-IDEMPOTENCY-KEY';
  const replay = 'svc-idempotent-replay';
  const both = [rule('/pci/', 'reveal'), rule('/pii/', 'reveal')] as const;
  const inPci = { data: 'canary', containers: ['/pci/high/'] };
  const inBoth = {
    a: { type: 'token', ...inPci },
    b: [{ type: 'token', data: 'canary', containers: ['/pii/low/'] }],
  };

  async function twice(
    path: string,
    body: object,
    rules: readonly Rule[],
    changed: readonly Rule[],
  ) {
    const caller = await application(rules);
    const key = randomUUID();
    const send = () => api.post(path, body, caller.key).set(header, key);
    const first = await send();
    expect([first.status, first.headers[replay]]).toEqual([201, undefined]);
    await change(caller, { rules: changed });
    return { first, second: await send() };
  }

  it.each<[string, string, object, Rule[]]>([
    [
      'a token of a container that it may not create in',
      '/tokens',
      inPci,
      [rule('/pii/', 'reveal')],
    ],
    ['a token in the clear, masked for it by now', '/tokens', inPci, [rule('/pci/', 'mask')]],
    ['a token in the clear, redacted for it by now', '/tokens', inPci, [rule('/pci/', 'redact')]],
    ['a document with one such token among others', '/tokenize', inBoth, [rule('/pci/', 'reveal')]],
    [
      'a document with a token in the clear, masked for it by now',
      '/tokenize',
      inBoth,
      [rule('/pci/', 'reveal'), rule('/pii/', 'mask')],
    ],
  ])('is 403 and shows nothing of %s', async (_, path, body, changed) => {
    const { second } = await twice(path, body, both, changed);
    expect([second.status, second.body]).toMatchObject([403, { code: 'permission_denied' }]);
    expect(second.text).not.toContain('canary');
  });

  it('is 403 for a document that shows an existing token which may not be read any more', async () => {
    const data = `shared ${randomUUID()}`;
    const theirs = { type: 'token', data, containers: ['/theirs/'], deduplicate_token: true };
    const owner = await application([rule('/', 'reveal')]);
    expect((await api.post('/tokens', theirs, owner.key)).status).toBe(201);
    const reads = rule('/', 'reveal', ['token:read']);
    const before = [rule('/', 'reveal'), reads];
    const { first, second } = await twice('/tokenize', { a: theirs }, before, [
      rule('/', 'reveal'),
    ]);
    expect(first.body).toMatchObject({ a: { data, containers: ['/theirs/'] } });
    expect([second.status, second.body]).toMatchObject([403, { code: 'permission_denied' }]);
  });

  it.each<[string, string, object, (body: Record<string, unknown>) => unknown]>([
    ['a token', '/tokens', inPci, ({ id }) => id],
    ['one token of a document', '/tokenize', inBoth, ({ b }) => (b as { id: string }[])[0]?.id],
  ])('is 410 and says how the call ended once %s is deleted', async (_, path, body, idIn) => {
    const caller = await application([rule('/', 'reveal', ['token:create', 'token:delete'])]);
    const key = randomUUID();
    const send = () => api.post(path, body, caller.key).set(header, key);
    const first = await send();
    const gone = `/tokens/${String(idIn(first.body as Record<string, unknown>))}`;
    expect((await api.delete(gone, caller.key)).status).toBe(204);
    const ended = { outcome: 'completed', http_status: 201, at: expect.any(String) as string };
    for (const second of [await send(), await send()]) {
      expect([second.status, second.body]).toMatchObject([410, { code: 'data_gone', ended }]);
      expect(second.text).not.toContain('canary');
    }
    const lines = await api.get(`/logs?operation=repeat`);
    const own = (lines.body as { data: { actor_id: string; outcome: string }[] }).data;
    expect(own.filter(({ actor_id }) => actor_id === caller.id)).toMatchObject([
      { outcome: 'refused' },
      { outcome: 'refused' },
    ]);
  });

  it('is 410 where another token has the id of the deleted one by now', async () => {
    const caller = await application([rule('/', 'reveal', ['token:create', 'token:delete'])]);
    const [key, id] = [randomUUID(), `named-${randomUUID()}`];
    const send = () => api.post('/tokens', { id, data: 'canary' }, caller.key).set(header, key);
    expect((await send()).status).toBe(201);
    await api.delete(`/tokens/${id}`, caller.key);
    expect((await api.post('/tokens', { id, data: 'new' }, caller.key)).status).toBe(201);
    const second = await send();
    expect([second.status, second.text.includes('canary')]).toEqual([410, false]);
  });

  it.each([
    ['as before', both],
    ['more than before', [rule('/', 'reveal')]],
  ])('is the same to an application that may see %s', async (_, changed) => {
    for (const [path, body] of [
      ['/tokens', inPci],
      ['/tokenize', inBoth],
    ] as const) {
      const { first, second } = await twice(path, body, both, changed);
      expect([second.status, second.headers[replay]]).toEqual([201, 'true']);
      expect(second.text).toBe(first.text);
    }
  });
});

describe('a caller whose body takes long', () => {
  async function slowly(key: string, meanwhile: () => Promise<void>): Promise<number | undefined> {
    const body = JSON.stringify({ data: 'x', containers: ['/pci/'] });
    const outgoing = httpRequest({
      port: api.port,
      method: 'POST',
      path: '/tokens',
      headers: {
        'SVC-API-KEY': key,
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        Expect: '100-continue',
      },
    });
    outgoing.flushHeaders();
    try {
      await once(outgoing, 'continue');
      outgoing.write(body.slice(0, 5));
      await meanwhile();
      outgoing.end(body.slice(5));
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      return answer.statusCode;
    } finally {
      outgoing.destroy();
    }
  }

  it.each<[number, string, (caller: Application) => Promise<void>]>([
    [
      401,
      'the application was deleted',
      async ({ id }) => void (await api.delete(`/applications/${id}`)),
    ],
    [
      403,
      'it may no longer create anything',
      (caller) => change(caller, { permissions: ['token:read'], rules: [] }),
    ],
    [
      403,
      'it may no longer create anything in the container',
      (caller) => change(caller, { rules: [rule('/pii/', 'reveal')] }),
    ],
    [201, 'none of its grants changed', () => Promise.resolve()],
  ])('gets %d if %s', async (status, _, meanwhile) => {
    const caller = await application([rule('/pci/', 'reveal')]);
    expect(await slowly(caller.key, () => meanwhile(caller))).toBe(status);
  });
});

describe('a caller whose row takes long to read', () => {
  it.each<[number, string, (caller: Application) => Promise<void>]>([
    [
      401,
      'the application was deleted',
      async ({ id }) => void (await api.delete(`/applications/${id}`)),
    ],
    [
      403,
      'it may no longer read anything',
      (caller) => change(caller, { permissions: ['proxy:read'] }),
    ],
    [200, 'none of its grants changed', () => Promise.resolve()],
  ])('gets %d if %s', async (status, _, meanwhile) => {
    const body = { name: 'key', type: 'management', permissions: ['reactor:read'] };
    const caller = (await api.post('/applications', body)).body as Application;
    const formula = { name: 'F', code: 'module.exports = () => ({})' };
    const { id } = (await api.post('/reactor-formulas', formula)).body as { id: string };
    const owner = new Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      await owner.query('BEGIN');
      await owner.query('LOCK TABLE reactor_formulas IN ACCESS EXCLUSIVE MODE');
      const reading = api
        .get(`/reactor-formulas/${id}`, caller.key)
        .then((answer) => answer.status);
      await waitFor(async () => {
        const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'reactor_formulas'::regclass`;
        return (await owner.query(waiting)).rows.length > 0;
      });
      await meanwhile(caller);
      await owner.query('COMMIT');
      expect(await reading).toBe(status);
    } finally {
      await owner.end();
    }
  });
});
