import { randomBytes, randomUUID } from 'node:crypto';
import {
  openWithRing,
  parseKeyRing,
  SealBroken,
  Sealer,
  sealWithRing,
  UnknownMasterKey,
  type DataKeyStore,
  type Place,
  type WrappedDataKey,
} from './index';

const masterKey = (): string => randomBytes(32).toString('base64');
const first = masterKey();
const ring = parseKeyRing(`1:${first}`);

function keysInMemory(): DataKeyStore {
  const keys: WrappedDataKey[] = [];
  return {
    byId: (id) => Promise.resolve(keys.find((key) => key.id === id)),
    claim: (candidate) => {
      const same = (key: WrappedDataKey): boolean =>
        key.tenantId === candidate.tenantId && key.period === candidate.period;
      if (!keys.some(same)) keys.push(candidate);
      return Promise.resolve(keys.find(same) ?? candidate);
    },
  };
}

const place: Place = {
  table: 'tokens',
  column: 'data',
  tenantId: randomUUID(),
  record: 'a',
};
const card = '{"number":"4242424242424242"}';

describe('a sealed value', () => {
  const store = keysInMemory();
  const sealer = new Sealer(ring, store);

  it('opens to what was sealed, in this process and in another', async () => {
    const sealed = await sealer.seal(place, card);
    expect((await sealer.open(place, sealed)).toString()).toBe(card);
    expect((await new Sealer(ring, store).open(place, sealed)).toString()).toBe(card);
  });

  it('does not show what it holds', async () => {
    const sealed = await sealer.seal(place, card);
    expect(sealed.includes('4242')).toBe(false);
  });

  it.each<[string, Partial<Place>]>([
    ['row', { record: 'b' }],
    ['tenant', { tenantId: randomUUID() }],
    ['column', { column: 'mask' }],
    ['table', { table: 'reactors' }],
    ['split of its place', { table: 'token', column: 'sdata' }],
  ])('does not open when it was moved to another %s', async (_, moved) => {
    const sealed = await sealer.seal(place, card);
    await expect(sealer.open({ ...place, ...moved }, sealed)).rejects.toThrow(SealBroken);
  });

  it('does not open when any one byte was changed or cut', async () => {
    const sealed = await sealer.seal(place, card);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(sealer.open(place, changed)).rejects.toThrow();
      await expect(sealer.open(place, sealed.subarray(0, at))).rejects.toThrow(SealBroken);
    }
  });

  it('never uses a nonce twice', async () => {
    const seen = new Set<string>();
    for (let i = 0; i < 10_000; i += 1) {
      seen.add((await sealer.seal(place, card)).subarray(17, 29).toString('hex'));
    }
    expect(seen.size).toBe(10_000);
  });

  it('makes one data key per tenant and period, however many ask at once', async () => {
    const fresh = new Sealer(ring, keysInMemory());
    const sealed = await Promise.all(Array.from({ length: 50 }, () => fresh.seal(place, card)));
    expect(new Set(sealed.map((s) => s.subarray(1, 17).toString('hex'))).size).toBe(1);
  });
});

describe('the key ring', () => {
  it('seals with the newest master key and opens with every one it has', () => {
    const rotated = parseKeyRing(`1:${first},2:${masterKey()}`);
    const old = sealWithRing(ring, place, card);
    const young = sealWithRing(rotated, place, card);
    expect(openWithRing(rotated, place, old).toString()).toBe(card);
    expect(openWithRing(rotated, place, young).toString()).toBe(card);
    expect(() => openWithRing(ring, place, young)).toThrow(UnknownMasterKey);
  });

  it.each(['', '1', '1:short', `0:${first}`, `1:${first},1:${first}`, `x:${first}`])(
    'refuses %j',
    (text) => {
      expect(() => parseKeyRing(text)).toThrow();
    },
  );
});
