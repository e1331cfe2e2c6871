import { randomBytes } from 'node:crypto';
import type { Sealer } from '@glovebox/seal';
import { isOf, Tickets } from './ticket';

const ticketsOf = (key: Buffer): Promise<Tickets> =>
  Tickets.by({ lastingKey: () => Promise.resolve(key) } as unknown as Sealer);
const owner = { tenantId: 'tenant', actorId: 'actor' };
const body = Buffer.from('{"order":1}');

let tickets: Tickets;
beforeAll(async () => {
  tickets = await ticketsOf(randomBytes(32));
});
afterEach(() => jest.useRealTimers());

it('a ticket tells whose order it is, and names one body', () => {
  const ticket = tickets.read(tickets.write(owner, body));
  expect(ticket).toMatchObject(owner);
  expect(ticket && isOf(ticket, body)).toBe(true);
  expect(ticket && isOf(ticket, Buffer.from('{"order":2}'))).toBe(false);
});

it('a ticket of another installation is none', async () => {
  const others = await ticketsOf(randomBytes(32));
  expect(tickets.read(others.write(owner, body))).toBeUndefined();
});

it('a ticket with any byte changed is none', () => {
  const text = tickets.write(owner, body);
  for (let at = 0; at < text.length; at += 1) {
    const other = text.charAt(at) === 'A' ? 'B' : 'A';
    const changed = text.slice(0, at) + other + text.slice(at + 1);
    const read = tickets.read(changed);
    // The last character of base64 holds bits that say nothing.
    if (read) expect(at).toBe(text.length - 1);
  }
});

it.each([undefined, '', '.', 'a.b', 'a.b.c', `${'a'.repeat(100_000)}.`])(
  'what is no ticket is none: %p',
  (text) => {
    expect(tickets.read(text)).toBeUndefined();
  },
);

it('a ticket is valid for ten seconds', () => {
  const text = tickets.write(owner, body);
  const now = Date.now();
  jest.useFakeTimers({ now: now + 9_000 });
  expect(tickets.read(text)).toBeDefined();
  jest.setSystemTime(now + 10_100);
  expect(tickets.read(text)).toBeUndefined();
  jest.setSystemTime(now - 11_000);
  expect(tickets.read(text)).toBeUndefined();
});
