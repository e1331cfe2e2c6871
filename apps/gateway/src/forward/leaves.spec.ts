import { setImmediate as nextTurn } from 'node:timers/promises';
import { createAuthority } from '@glovebox/certificates';
import { Leaves } from './leaves';

const day = 24 * 60 * 60_000;
const made = (until: string | null = null) => ({ ...createAuthority('a'), until });
const authorities = [made()];
const { signal } = new AbortController();

const wanted = (tenantId: string, host: string, of = authorities) => ({
  tenantId,
  host,
  authorities: of,
});

it('one certificate of a host is made, and kept', async () => {
  const leaves = new Leaves({ placesMax: 10 });
  const contexts = await Promise.all(
    Array.from({ length: 5 }, () => leaves.contextFor(wanted('a', 'x.example'), () => signal)),
  );
  expect(new Set(contexts).size).toBe(1);
  expect(leaves.places.heldBy('a')).toBe(1);
});

it('no tenant gets a certificate of another one, nor one of a replaced authority', async () => {
  const leaves = new Leaves({ placesMax: 10 });
  const own = await leaves.contextFor(wanted('a', 'x.example'), () => signal);
  expect(await leaves.contextFor(wanted('b', 'x.example'), () => signal)).not.toBe(own);
  const replaced = await leaves.contextFor(wanted('a', 'x.example', [made()]), () => signal);
  expect(replaced).not.toBe(own);
  expect(leaves.places.heldBy('a')).toBe(1);
});

it('a replaced authority signs until its time, and the newest from then on', async () => {
  const leaves = new Leaves({ placesMax: 10 });
  const [newest] = [made()];
  const former = made(new Date(Date.now() + day).toISOString());
  const before = await leaves.contextFor(wanted('a', 'x.example', [former]), () => signal);
  const during = await leaves.contextFor(wanted('a', 'x.example', [newest, former]), () => signal);
  expect(during).toBe(before);
  const over = { ...former, until: new Date(Date.now() - 1).toISOString() };
  const after = await leaves.contextFor(wanted('a', 'x.example', [newest, over]), () => signal);
  expect(after).not.toBe(before);
});

it('a tenant with ever new hosts pushes out its own certificates, and those of nobody else', async () => {
  const leaves = new Leaves({ placesMax: 20 });
  const neighbour = await leaves.contextFor(wanted('b', 'x.example'), () => signal);
  for (let n = 0; n < 60; n += 1)
    await leaves.contextFor(wanted('a', `h${n}.example`), () => signal);
  expect(leaves.places.heldBy('a')).toBeLessThanOrEqual(10);
  expect(await leaves.contextFor(wanted('b', 'x.example'), () => signal)).toBe(neighbour);
  const latest = await leaves.contextFor(wanted('a', 'h59.example'), () => signal);
  expect(await leaves.contextFor(wanted('a', 'h59.example'), () => signal)).toBe(latest);
  expect(leaves.places.state.held).toBeLessThanOrEqual(20);
});

it('a hundred hosts of one tenant leave turns to its neighbour', async () => {
  const leaves = new Leaves({ placesMax: 1_000 });
  let done = 0;
  const many = Array.from({ length: 100 }, async (_, n) => {
    await leaves.contextFor(wanted('a', `h${n}.example`), () => signal);
    done += 1;
  });
  await nextTurn();
  await leaves.contextFor(wanted('b', 'x.example'), () => signal);
  expect(done).toBeLessThan(50);
  await Promise.all(many);
});
