import { randomBytes, randomUUID } from 'node:crypto';
import { SealBroken, type Place } from './envelope';
import { parseKeyRing, UnknownMasterKey } from './key-ring';
import {
  masterVersionOf,
  openWithRing,
  rewrapDataKey,
  Sealer,
  sealWithRing,
  UnknownSealFormat,
  type DataKeyStore,
  type WrappedDataKey,
} from './sealer';

const masterKey = (): string => randomBytes(32).toString('base64');
const first = masterKey();
const ring = parseKeyRing(`1:${first}`);

function keysInMemory(sealing?: number): DataKeyStore {
  const keys: WrappedDataKey[] = [];
  return {
    byId: (id) => Promise.resolve(keys.find((key) => key.id === id)),
    claim: ({ id, tenantId, period, newestVersion, wrap }) => {
      const known = keys.find((key) => key.tenantId === tenantId && key.period === period);
      if (known) return Promise.resolve(known);
      const masterVersion = sealing ?? newestVersion;
      const key = { id, tenantId, period, masterVersion, wrapped: wrap(masterVersion) };
      keys.push(key);
      return Promise.resolve(key);
    },
    sealingVersion: (newestVersion) => Promise.resolve(sealing ?? newestVersion),
    neededOf: (versions) =>
      Promise.resolve(versions.filter((v) => keys.some((key) => key.masterVersion === v))),
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

  it('opens to its plaintext, in this process and in another', async () => {
    const sealed = await sealer.seal(place, card);
    expect((await sealer.open(place, sealed)).toString()).toBe(card);
    expect((await new Sealer(ring, store).open(place, sealed)).toString()).toBe(card);
  });

  it('opens without a wait once its data key was looked up', async () => {
    let lookUps = 0;
    const byId = (id: string) => {
      lookUps += 1;
      return store.byId(id);
    };
    const reader = new Sealer(ring, { ...store, byId });
    const sealed = await sealer.seal(place, card);
    expect(reader.openNow(place, sealed)).toBeUndefined();
    await Promise.all(Array.from({ length: 50 }, () => reader.open(place, sealed)));
    expect(reader.openNow(place, sealed)?.toString()).toBe(card);
    expect(lookUps).toBe(1);
    expect(() => reader.openNow({ ...place, record: 'b' }, sealed)).toThrow(SealBroken);
    expect(() => reader.openNow(place, sealed.subarray(0, 16))).toThrow(SealBroken);
  });

  it('opens in its own place alone, whatever other places were opened in between', async () => {
    const places = ['tokens', 'token', ''].flatMap((table) =>
      ['data', 'mask', 'sdata'].flatMap((column) =>
        ['a', 'aa', 'é'].map((record) => ({ table, column, tenantId: place.tenantId, record })),
      ),
    );
    const all = await Promise.all(places.map((at) => sealer.seal(at, JSON.stringify(at))));
    for (const [n, sealed] of all.entries()) {
      for (const [m, at] of places.entries()) {
        const opened = sealer.open(at, sealed);
        if (m === n) expect((await opened).toString()).toBe(JSON.stringify(at));
        else await expect(opened).rejects.toThrow(SealBroken);
      }
    }
  });

  it('asks for its data key again after a look-up that failed', async () => {
    const sealed = await sealer.seal(place, card);
    let isAway = true;
    const byId = (id: string) => (isAway ? Promise.reject(new Error('away')) : store.byId(id));
    const reader = new Sealer(ring, { ...store, byId });
    await expect(reader.open(place, sealed)).rejects.toThrow('away');
    isAway = false;
    expect((await reader.open(place, sealed)).toString()).toBe(card);
  });

  it('shows nothing of its plaintext', async () => {
    const sealed = await sealer.seal(place, card);
    expect(sealed.includes('4242')).toBe(false);
  });

  it.each<[string, Partial<Place>]>([
    ['row', { record: 'b' }],
    ['tenant', { tenantId: randomUUID() }],
    ['column', { column: 'mask' }],
    ['table', { table: 'reactors' }],
    ['split of its place', { table: 'token', column: 'sdata' }],
  ])('does not open after a move to another %s', async (_, moved) => {
    const sealed = await sealer.seal(place, card);
    await expect(sealer.open({ ...place, ...moved }, sealed)).rejects.toThrow(SealBroken);
  });

  it('does not open after a change or cut of any one byte', async () => {
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

  it.each([3, 15])(
    'of the later format %d is told by its number, in place of damage',
    async (format) => {
      const later = await sealer.seal(place, card);
      const ofRing = sealWithRing(ring, 1, place, card);
      for (const sealed of [later, ofRing]) sealed[0] = format;
      const refusal = { name: 'UnknownSealFormat', code: 'service_unavailable' };
      await expect(sealer.open(place, later)).rejects.toMatchObject(refusal);
      await expect(sealer.open(place, later)).rejects.toThrow(`the format ${format}`);
      expect(() => openWithRing(ring, place, ofRing)).toThrow(UnknownSealFormat);
    },
  );

  it.each([0, 16, 255])('that begins with %d is damaged', async (format) => {
    const sealed = await sealer.seal(place, card);
    sealed[0] = format;
    await expect(sealer.open(place, sealed)).rejects.toThrow(SealBroken);
    expect(() => openWithRing(ring, place, sealed)).toThrow(SealBroken);
  });

  it('has one data key per tenant and period, however many are sealed at once', async () => {
    const fresh = new Sealer(ring, keysInMemory());
    const sealed = await Promise.all(Array.from({ length: 50 }, () => fresh.seal(place, card)));
    expect(new Set(sealed.map((s) => s.subarray(1, 17).toString('hex'))).size).toBe(1);
  });
});

describe('a value sealed by the ring itself', () => {
  const both = parseKeyRing(`1:${first},2:${masterKey()}`);
  const sealed = sealWithRing(both, 1, place, card);

  it('opens with every ring that has the version, and names the version to a ring that lacks it', () => {
    const young = sealWithRing(both, 2, place, card);
    expect(openWithRing(ring, place, sealed).toString()).toBe(card);
    expect(openWithRing(both, place, young).toString()).toBe(card);
    expect(() => openWithRing(ring, place, young)).toThrow(new UnknownMasterKey(2));
    expect(() => sealWithRing(ring, 2, place, card)).toThrow(UnknownMasterKey);
  });

  it('does not open under the name of another version, with another key or in another place', () => {
    const renamed = Buffer.from(sealed);
    renamed.writeUInt32BE(2, 1);
    expect(() => openWithRing(both, place, renamed)).toThrow(SealBroken);
    // The same key under two numbers: even then the number is part of what is bound.
    const twice = parseKeyRing(`1:${first},2:${first}`);
    expect(() => openWithRing(twice, place, renamed)).toThrow(SealBroken);
    const other = parseKeyRing(`1:${masterKey()}`);
    expect(() => openWithRing(other, place, sealed)).toThrow(SealBroken);
    const changes = [{ table: 'x' }, { column: 'x' }, { tenantId: randomUUID() }, { record: 'x' }];
    for (const moved of changes) {
      expect(() => openWithRing(both, { ...place, ...moved }, sealed)).toThrow(SealBroken);
    }
  });

  it('does not open after a change of any one byte, or at any shorter length', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 0x80;
      expect(() => openWithRing(both, place, changed)).toThrow();
      expect(() => openWithRing(both, place, sealed.subarray(0, at))).toThrow(SealBroken);
    }
    expect(() => openWithRing(both, place, Buffer.concat([sealed, Buffer.of(0)]))).toThrow();
  });

  it('never uses a nonce twice', () => {
    const nonces = Array.from({ length: 10_000 }, () =>
      sealWithRing(both, 1, place, card).subarray(5, 17).toString('hex'),
    );
    expect(new Set(nonces).size).toBe(10_000);
  });
});

describe('the key ring', () => {
  const newer = parseKeyRing(`1:${first},2:${masterKey()}`);

  it('seals with the version that the store says, though the ring has a newer one', async () => {
    const store = keysInMemory(1);
    const sealed = await new Sealer(newer, store).seal(place, card);
    expect((await new Sealer(ring, store).open(place, sealed)).toString()).toBe(card);
  });

  it('refuses to serve and to seal without the version that seals', async () => {
    const lacking = new Sealer(ring, keysInMemory(2));
    await expect(lacking.requireMasterKeys()).rejects.toThrow('no master key of version 2');
    await expect(lacking.seal(place, card)).rejects.toThrow(UnknownMasterKey);
    expect(await lacking.masterKeys(1_000)).toBe('down');
    expect(await new Sealer(newer, keysInMemory(2)).masterKeys(1_000)).toBe('up');
  });

  it('is no longer ready after it met a value of an older key that was removed too early', async () => {
    const store = keysInMemory(1);
    const sealed = await new Sealer(newer, store).seal(place, card);
    const younger = parseKeyRing(`2:${masterKey()}`);
    const early = new Sealer(younger, { ...store, sealingVersion: () => Promise.resolve(2) });
    expect(await early.masterKeys(1_000)).toBe('up');
    await expect(early.open(place, sealed)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await early.masterKeys(1_000)).toBe('down');
  });

  it('is ready again once no stored value needs the older key', async () => {
    const store = keysInMemory(1);
    const sealed = await new Sealer(newer, store).seal(place, card);
    const younger = parseKeyRing(`2:${masterKey()}`);
    const needed = { ...store, sealingVersion: () => Promise.resolve(2) };
    await expect(new Sealer(younger, needed).open(place, sealed)).rejects.toThrow(UnknownMasterKey);
    expect(await new Sealer(younger, needed).masterKeys(1_000)).toBe('down');
    const rotated = { ...needed, neededOf: () => Promise.resolve([]) };
    expect(await new Sealer(younger, rotated).masterKeys(1_000)).toBe('up');
    expect(younger.missing.size).toBe(0);
  });

  it.each([0, 1, 2, 4, 0x7f000001, 0xffffffff])(
    'is ready despite a damaged header that says %d',
    async (version) => {
      const third = parseKeyRing(`3:${first}`);
      const damaged = sealWithRing(third, 3, place, card);
      damaged.writeUInt32BE(version, 1);
      expect(() => openWithRing(third, place, damaged)).toThrow(UnknownMasterKey);
      expect(await new Sealer(third, keysInMemory(3)).masterKeys(1_000)).toBe('up');
    },
  );

  it('is ready while the store is away or slow', async () => {
    const store = keysInMemory(1);
    const away = { ...store, sealingVersion: () => Promise.reject(new Error('away')) };
    expect(await new Sealer(ring, away).masterKeys(1_000)).toBe('up');
    const slow = { ...store, sealingVersion: () => new Promise<number>(() => undefined) };
    expect(await new Sealer(ring, slow).masterKeys(10)).toBe('up');
  });

  it('wraps a data key anew without changing it', async () => {
    const store = keysInMemory(1);
    const sealed = await new Sealer(newer, store).seal(place, card);
    const id = sealed.subarray(1, 17).toString('hex');
    const dashed = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    const stored = await store.byId(dashed);
    if (!stored) throw new Error('no data key');
    const wrapped = rewrapDataKey(newer, 2, stored);
    expect([masterVersionOf(stored.wrapped), masterVersionOf(wrapped)]).toEqual([1, 2]);
    const after = { ...store, byId: () => Promise.resolve({ ...stored, wrapped }) };
    expect((await new Sealer(newer, after).open(place, sealed)).toString()).toBe(card);
    await expect(new Sealer(ring, after).open(place, sealed)).rejects.toThrow(UnknownMasterKey);
  });

  it.each(['', '1', '1:short', `0:${first}`, `1:${first},1:${first}`, `x:${first}`])(
    'refuses the setting %j',
    (text) => {
      expect(() => parseKeyRing(text)).toThrow();
    },
  );
});
