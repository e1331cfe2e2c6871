import { waitFor } from '@glovebox/testing';
import { contextOf } from '../context';
import { LentKey } from './lent-key';
import { AuthorsFolder, interruptionsOf, Lender } from './spec-lender';

let lender: Lender;
let folder: AuthorsFolder;
let said: string[];
let renew: () => void;
beforeEach(async () => {
  lender = await Lender.start();
  folder = new AuthorsFolder();
  folder.store({ url: lender.url, managementKey: 'key_that_manages' });
  said = [];
  jest.spyOn(globalThis, 'setInterval').mockImplementationOnce((tick, ms) => {
    expect(ms).toBe(5 * 60_000);
    renew = tick;
    return setTimeout(() => undefined, 0);
  });
});
afterEach(async () => {
  folder.remove();
  await lender.close();
});

async function borrow(): Promise<LentKey> {
  const { interruptions } = interruptionsOf();
  const context = contextOf({ color: false, url: lender.url }, folder.env, process, interruptions);
  jest.spyOn(context.terminal, 'say').mockImplementation((text) => void said.push(text));
  return LentKey.borrow(context, 'agent');
}

const inMinutes = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000).toISOString();
const minutesOf = (body: { expires_at?: unknown } = {}): number =>
  Math.round((Date.parse(String(body.expires_at)) - Date.now()) / 60_000);
const lent = () => lender.made.get('lent-0');

it('no key is lent of an application that has expired', async () => {
  lender.agent = { ...lender.agent, expires_at: inMinutes(-1) };
  await expect(borrow()).rejects.toMatchObject({
    exit: 'rejected',
    message: expect.stringMatching(/^Application "agent" expired at/),
  });
  expect(lender.made.size).toBe(0);
});

it.each([
  [undefined, 15],
  [60, 15],
  [3, 3],
])('a key of an application that ends in %s minutes lasts for %i', async (theirs, own) => {
  lender.agent = { ...lender.agent, ...(theirs && { expires_at: inMinutes(theirs) }) };
  await borrow();
  expect(minutesOf(lent())).toBe(own);
});

it('a key follows what its application may, and until when', async () => {
  await borrow();
  expect(lent()).toMatchObject({ permissions: ['token:use'], rules: [] });
  const rules = [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }];
  lender.agent = { ...lender.agent, permissions: [], rules, expires_at: inMinutes(2) };
  renew();
  await waitFor(() => minutesOf(lent()) === 2);
  expect(lent()).toMatchObject({ permissions: [], rules });
  expect(said).toEqual([]);
});

it.each([
  ['was deleted', undefined],
  ['has expired', { expires_at: inMinutes(-1) }],
])('a key ends, and this is told, once its application %s', async (what, agent) => {
  const key = await borrow();
  lender.agent = agent && { ...lender.agent, ...agent };
  renew();
  await waitFor(() => said.length > 0);
  expect(said).toEqual([`Application "Agent" ${what}, and the key of the command with it.`]);
  expect(lender.made.size).toBe(0);
  await key.giveBack();
  expect(said).toHaveLength(1);
});

it('a key that cannot be given back is told', async () => {
  const key = await borrow();
  lender.refusing = true;
  await key.giveBack();
  expect(said).toEqual([expect.stringMatching(/lives for up to 15 minutes: .*permission_denied/)]);
});
