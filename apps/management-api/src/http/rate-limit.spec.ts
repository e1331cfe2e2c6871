import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { waitFor } from '@glovebox/testing';
import { useTestApi, type TestProcess } from '../spec-api';

const limit = 20;
const api = useTestApi({ RATE_LIMIT_PER_MINUTE: String(limit) });
let other: TestProcess;

beforeAll(async () => {
  other = await api.startAnother();
});

const path = `/reactor-formulas/${randomUUID()}`;

it('a key that has used up its minute gets 429 with Retry-After from both instances', async () => {
  const key = await api.keyWith('management', ['reactor:read']);
  for (let call = 0; call < limit; call += 1) {
    expect((await api.get(path, key)).status).toBe(404);
  }
  const { status, body, headers } = await api.get(path, key);
  expect([status, body]).toEqual([
    429,
    { title: 'Too many requests.', status: 429, code: 'rate_limited' },
  ]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60 / limit);
  let admitted = 0;
  await waitFor(async () => {
    const answer = await other.get(path, key);
    if (answer.status === 404) admitted += 1;
    return answer.status === 429;
  });
  expect(admitted).toBeLessThan(limit);
  expect((await api.get(path, api.foreign.management_key)).status).toBe(404);
});

it('a 401 is not counted, and comes before 429', async () => {
  for (let call = 0; call < limit + 5; call += 1) {
    expect((await api.get(path, 'nobody')).status).toBe(401);
  }
});

it('calls that later checks refuse are counted too', async () => {
  const key = await api.keyWith('private', ['token:create']);
  for (let call = 0; call < limit; call += 1) {
    expect((await api.get(path, key)).status).toBe(403);
  }
  expect((await api.get(path, key)).status).toBe(429);
});

it.each(['PUT', 'PATCH'])(
  'a %s above the limit is refused before its body comes',
  async (method) => {
    const key = await api.keyWith('management', ['reactor:update']);
    for (let call = 0; call < limit; call += 1) await api.get(path, key);
    const socket = connect(api.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (part) => (answer += part.toString('latin1')));
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: a\r\nSVC-API-KEY: ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
    );
    await waitFor(() => answer.includes('rate_limited'));
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    socket.destroy();
  },
);

it('without Redis each instance limits the calls that it sees itself', async () => {
  const key = await api.keyWith('management', ['reactor:read']);
  await api.redis.stop();
  for (const instance of [api, other]) {
    const calls = Array.from({ length: limit + 5 }, () => instance.get(path, key));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(limit);
    expect(statuses).toContain(429);
  }
});
