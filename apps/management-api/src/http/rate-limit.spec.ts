import { randomUUID } from 'node:crypto';
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
  const answers = await Promise.all(
    Array.from({ length: limit + 6 }, (_, index) => (index % 2 === 0 ? api : other).get(path, key)),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(limit);
  expect(refused).toHaveLength(6);
  for (const { body, headers } of refused) {
    expect(body).toEqual({ title: 'Too many requests.', status: 429, code: 'rate_limited' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  }
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

it('no call is limited while Redis is away', async () => {
  const key = await api.keyWith('management', ['reactor:read']);
  await api.redis.stop();
  for (let call = 0; call < limit + 5; call += 1) {
    expect((await api.get(path, key)).status).toBe(404);
  }
});
