import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { freePort } from './lib/ports.mjs';
import { respondsOk } from './lib/processes.mjs';
import { repoRoot } from './lib/repo.mjs';

/** @type {import('node:child_process').ChildProcess} */
let child;
/** @type {string} */
let url;

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const program = join(repoRoot, 'tools', 'demo-destination.mjs');
  child = spawn(process.execPath, [program, String(port)], { stdio: 'ignore' });
  while (!(await respondsOk(`${url}/echo`))) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
  }
});
afterAll(async () => {
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<[status: number, body: any]>}
 */
async function call(path, options) {
  const answer = await fetch(url + path, options);
  return [answer.status, await answer.json()];
}

it('/echo answers with the request', async () => {
  const body = JSON.stringify({ a: 1 });
  const [status, echo] = await call('/echo/x?y=1', {
    method: 'PUT',
    headers: { 'X-A': 'b' },
    body,
  });
  expect([status, echo.method, echo.path, echo.headers['x-a'], echo.body]).toEqual([
    ...[200, 'PUT', '/echo/x?y=1', 'b'],
    { a: 1 },
  ]);
});

it('a body of more than a mebibyte is refused', async () => {
  const options = { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) };
  expect(await call('/echo', options)).toEqual([413, { error: 'too large' }]);
});

it('an upload that is aborted, and a path that is none, do no harm', async () => {
  const headers = { 'Content-Length': '10', Expect: '100-continue' };
  const left = request(`${url}/echo`, { method: 'POST', headers });
  left.on('error', () => undefined);
  left.flushHeaders();
  // It is reading the body by now.
  await once(left, 'continue');
  left.destroy();
  const odd = request(url, { path: '//' });
  odd.end();
  await once(odd, 'error');
  expect((await call('/echo'))[0]).toBe(200);
});

it('/hooks/NAME keeps the last twenty deliveries of each name', async () => {
  expect(await call('/hooks/none')).toEqual([200, []]);
  for (let n = 0; n < 21; n += 1) await call('/hooks/some', { method: 'POST', body: String(n) });
  const [, deliveries] = await call('/hooks/some');
  expect(deliveries.map((/** @type {{ body: number }} */ { body }) => body)).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 1),
  );
});

it('/hooks/NAME?wait answers once there is a delivery', async () => {
  const waiting = call('/hooks/late?wait');
  expect(await call('/hooks/late')).toEqual([200, []]);
  await call('/hooks/late', { method: 'POST', body: '7' });
  const [, [delivery]] = await waiting;
  expect(delivery.body).toBe(7);
});

it('the hooks of the oldest name are forgotten when there are more than a hundred', async () => {
  for (let n = 0; n < 101; n += 1) await call(`/hooks/n${n}`, { method: 'POST', body: '1' });
  expect((await call('/hooks/n0'))[1]).toEqual([]);
  expect((await call('/hooks/n1'))[1]).toHaveLength(1);
});

it('/charges takes a card for the secret key alone', async () => {
  /**
   * @param {string} number
   * @param {string} key
   */
  const charge = (number, key) =>
    call('/charges', {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}` },
      body: new URLSearchParams({ 'card[number]': number, amount: '5', currency: 'eur' }),
    });
  const [status, paid] = await charge('4242424242424242', 'sk_demo');
  const card = { number: '4242424242424242' };
  expect([status, paid]).toMatchObject([201, { status: 'paid', amount: 5, currency: 'eur', card }]);
  expect((await charge('4000000000000002', 'sk_demo'))[0]).toBe(402);
  expect((await charge('4242424242424242', 'other'))[0]).toBe(401);
});

it('/customers/ID answers with a card, and other paths are not found', async () => {
  const [status, customer] = await call('/customers/7');
  expect([status, customer.id, customer.card.number]).toEqual([200, '7', '4242424242424242']);
  expect((await call('/else'))[0]).toBe(404);
});
