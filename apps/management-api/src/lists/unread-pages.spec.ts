import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { waitFor } from '@glovebox/testing';
import { rule, useTestApi } from '../spec-api';

const answerIdleMs = 600;
const api = useTestApi({
  ANSWER_IDLE_MS: String(answerIdleMs),
});

const mebibyte = 1024 * 1024;
const proxies = 100;
const answers: ServerResponse[] = [];

/** Bytes of answers that this process holds because nobody has taken them. */
const heldBytes = (): number =>
  answers.reduce((sum, { writableLength }) => sum + writableLength, 0);

beforeAll(async () => {
  const code = `/*${'x'.repeat(49_000)}*/ module.exports = (req) => req`;
  for (let made = 0; made < proxies; made += 10) {
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        api.made('/proxies', {
          name: `large ${made + n}`,
          destination_url: 'https://example.com',
          request_transform: { code },
          response_transform: { code },
          configuration: { large: 'y'.repeat(60_000) },
        }),
      ),
    );
  }
  const server = api.app.getHttpServer() as Server;
  server.on('request', (_, response: ServerResponse) => answers.push(response));
});
afterEach(() => answers.splice(0));

/** A caller that reads nothing until it is told to. */
class Reader {
  readonly socket: Socket;
  text = '';
  isClosed = false;

  constructor(line: string, key = api.tenant.management_key, headers = '', body = '') {
    this.socket = connect(api.port, '127.0.0.1').pause();
    this.socket.on('error', () => undefined).once('close', () => (this.isClosed = true));
    this.socket.write(
      `${line} HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: ${key}\r\n${headers}` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  /** Reads what has arrived when the connection has ended. */
  async rest(): Promise<string> {
    this.socket.setEncoding('utf8').on('data', (text: string) => (this.text += text));
    this.socket.resume();
    await waitFor(() => this.isClosed, { timeoutMs: 10_000 });
    return this.text;
  }
}

const large = `GET /proxies?size=${proxies}`;
const stalled = (): boolean =>
  answers.length > 0 && answers.every(({ headersSent }) => headersSent) && heldBytes() > 0;

const connectionsInUse = async (): Promise<number> => {
  const [row] = await api.admin.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE usename LIKE 'glovebox_management%' AND state <> 'idle'`,
  );
  return row?.count ?? 0;
};

describe('a page of 15 MB', () => {
  it('is whole, newest first, with its pagination before its rows', async () => {
    const answer = await api.get(`/proxies?size=${proxies}`);
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeGreaterThan(15_000_000);
    const { pagination, data } = answer.body as { pagination: object; data: { name: string }[] };
    expect(pagination).toEqual({
      total_items: proxies,
      page_number: 1,
      page_size: proxies,
      total_pages: 1,
    });
    expect(new Set(data.map(({ name }) => name)).size).toBe(proxies);
    expect(answer.text).toMatch(/^\{"pagination":/);
    const second = await api.get(`/proxies?size=${proxies / 2}&page=2`);
    expect((second.body as { data: object[] }).data).toEqual(data.slice(proxies / 2));
  });

  it('that ten callers do not read takes at most 2 MiB for each, 8 MiB for their tenant and no connection to Postgres', async () => {
    const callers = Array.from({ length: 10 }, () => new Reader(large));
    let most = 0;
    await waitFor(() => {
      most = Math.max(most, heldBytes());
      return answers.length === 10 && answers.some(({ writableLength }) => writableLength > 0);
    });
    expect(most).toBeLessThanOrEqual(8 * mebibyte);
    for (const { writableLength } of answers) expect(writableLength).toBeLessThan(2 * mebibyte);
    expect(api.ctx.pageBytes.heldBy(api.tenant.tenant_id)).toBeLessThanOrEqual(8 * mebibyte);
    await waitFor(async () => (await connectionsInUse()) === 0);
    expect((await api.get('/proxies', api.foreign.management_key)).status).toBe(200);
    expect((await api.get('/proxies?size=1&page=2', api.tenant.management_key)).status).toBe(200);
    for (const { socket } of callers) socket.destroy();
    await waitFor(() => api.ctx.pageBytes.state.held === 0);
  });
});

describe('a caller that', () => {
  it('reads nothing loses its connection, and leaves its share to the next one', async () => {
    const caller = new Reader(large);
    await waitFor(stalled);
    expect(api.ctx.pageBytes.state.held).toBe(2 * mebibyte);
    await waitFor(() => answers[0]?.destroyed === true, { timeoutMs: 3 * answerIdleMs });
    expect(api.ctx.pageBytes.state.held).toBe(0);
    expect(await caller.rest()).not.toMatch(/\]\}\r\n0\r\n\r\n$/);
  });

  it('leaves lets go of its share at once', async () => {
    const caller = new Reader(large);
    await waitFor(stalled);
    caller.socket.destroy();
    await waitFor(() => api.ctx.pageBytes.state.held === 0, { timeoutMs: answerIdleMs / 2 });
  });

  it('meets a store that is lost after the first rows gets a connection that breaks, and no JSON that ends well', async () => {
    const caller = new Reader(large);
    await waitFor(stalled);
    // A connection that is held while the caller does not read would keep this one waiting.
    await api.admin.query('ALTER TABLE proxies RENAME TO lost');
    try {
      const text = await caller.rest();
      expect(text).toMatch(/^HTTP\/1.1 200 /);
      expect(text).not.toMatch(/\]\}\r\n0\r\n\r\n$/);
    } finally {
      await api.admin.query('ALTER TABLE lost RENAME TO proxies');
    }
    expect((await api.get('/proxies?size=1')).status).toBe(200);
  });
});

describe('a page of large tokens', () => {
  const ids: string[] = [];
  let key: string;
  beforeAll(async () => {
    key = await api.keyWith(
      'private',
      ['token:create'],
      [rule('reveal', '/', ['token:read', 'token:search'])],
    );
    for (let n = 0; n < 9; n += 1) ids.push(await storedLarge());
  });
  const storedLarge = (): Promise<string> =>
    api.storedToken({
      data: 'x'.repeat(mebibyte - 2_000),
      type: 'token',
      metadata: { kind: 'large' },
    });
  const recorded = (traceId: string) =>
    api.admin.query<{ outcome: string; ids: string[] }>(
      `SELECT outcome, token_ids AS ids FROM audit_log WHERE trace_id = $1 ORDER BY id`,
      [traceId],
    );

  it.each([
    ['list', () => api.get('/tokens?metadata.kind=large', key)],
    ['search', () => api.post('/tokens/search', { query: 'metadata.kind:large' }, key)],
  ])('comes row by row in a %s, and each row is recorded with its batch', async (_, ask) => {
    const traceId = randomUUID();
    const answer = await ask().set('SVC-TRACE-ID', traceId);
    const shown = (answer.body as { data: { id: string; data: string }[] }).data;
    expect(shown.map(({ id }) => id)).toEqual([...ids].reverse());
    expect(shown.every(({ data }) => data.length === mebibyte - 2_000)).toBe(true);
    const lines = await recorded(traceId);
    expect(lines.map((line) => [line.outcome, line.ids])).toEqual(
      shown.map(({ id }) => ['success', [id]]),
    );
  });

  it('shows no row that is not recorded to a caller that stops reading', async () => {
    const traceId = randomUUID();
    const caller = new Reader(
      'GET /tokens?metadata.kind=large',
      key,
      `SVC-TRACE-ID: ${traceId}\r\n`,
    );
    await waitFor(() => answers[0]?.headersSent === true);
    caller.socket.destroy();
    await waitFor(() => api.ctx.pageBytes.state.held === 0);
    const text = await caller.rest();
    const lines = (await recorded(traceId)).flatMap((line) => line.ids);
    for (const id of ids.filter((one) => text.includes(one))) expect(lines).toContain(id);
  });

  it('is refused with 413 and recorded once where it would open more than a request may', async () => {
    const more = [await storedLarge(), await storedLarge()].reverse();
    const traceId = randomUUID();
    const refused = await api.get('/tokens?metadata.kind=large', key).set('SVC-TRACE-ID', traceId);
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([
      413,
      'payload_too_large',
    ]);
    expect(await recorded(traceId)).toMatchObject([
      { outcome: 'refused', ids: [...more, ...[...ids].reverse()] },
    ]);
  });

  it('is counted as a whole where it is one document, until its caller has read or is cut off', async () => {
    const document = JSON.stringify(ids.map((id) => `{{ ${id} }}`));
    const caller = new Reader('POST /detokenize', key, '', document);
    const held = () => api.ctx.bodies.bufferedBytes.heldBy(api.tenant.tenant_id);
    await waitFor(() => held() > 9 * (mebibyte - 3_000));
    await waitFor(() => held() === 0, { timeoutMs: 3 * answerIdleMs });
    const text = await caller.rest();
    expect(text).toMatch(/^HTTP\/1.1 200 /);
  });
});
