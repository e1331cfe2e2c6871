import { randomUUID } from 'node:crypto';
import type { Principal, Transform } from '@glovebox/access';
import { parseSights, Sights } from './sights';

const principal: Principal = {
  actorId: randomUUID(),
  tenantId: randomUUID(),
  type: 'private',
  permissions: ['token:use'],
  rules: [],
};
const { actorId: applicationId } = principal;

function seen(tokens: readonly (readonly [string, string, Transform])[]): Sights {
  const sights = new Sights();
  for (const [id, container, transform] of tokens) {
    sights.see(principal, 'token:use', { id, container, transform, createdAt: new Date(7) });
  }
  return sights;
}

describe('the sights of an answer', () => {
  it('are the tokens by container and transform, each as it was seen best', () => {
    const sights = seen([
      ['a', '/x/', 'mask'],
      ['b', '/x/', 'reveal'],
      ['a', '/x/', 'reveal'],
      ['b', '/x/', 'mask'],
      ['c', '/y/', 'redact'],
    ]);
    const sight = { applicationId, permission: 'token:use' };
    expect(sights.list()).toEqual([
      { ...sight, container: '/x/', transform: 'reveal', ids: ['a', 'b'], madeAt: [7, 7] },
      { ...sight, container: '/y/', transform: 'redact', ids: ['c'], madeAt: [7] },
    ]);
  });

  it('tell a token from a later one of the same id, however much was seen of each', () => {
    const sights = new Sights();
    const token = { id: 'a', container: '/x/' };
    sights.see(principal, 'token:use', { ...token, transform: 'mask', createdAt: new Date(7) });
    sights.see(principal, 'token:use', { ...token, transform: 'reveal', createdAt: new Date(8) });
    expect(sights.list()).toMatchObject([
      { transform: 'mask', ids: ['a'], madeAt: [7] },
      { transform: 'reveal', ids: ['a'], madeAt: [8] },
    ]);
  });

  it('hold the ids of 1,000 tokens, and of those beyond them the containers', () => {
    const tokens = Array.from({ length: 1_500 }, (_, n) => [`t${n}`, '/x/', 'reveal'] as const);
    const [known, beyond, ...none] = seen([...tokens, ['last', '/y/', 'mask']]).list();
    expect(known?.ids).toHaveLength(1_000);
    expect([beyond?.container, beyond?.ids]).toEqual(['/x/', undefined]);
    expect(none).toMatchObject([{ container: '/y/', transform: 'mask' }]);
  });

  it('name a container that nobody may see into once there are too many of them', () => {
    const tokens = Array.from({ length: 3_000 }, (_, n) => [`t${n}`, `/x/${n}/`, 'mask'] as const);
    const sights = seen(tokens).list();
    expect(sights).toHaveLength(2_001);
    expect(sights.at(-1)?.container).toBe('*');
  });

  it('are unknown where they were not stored', () => {
    expect(parseSights(null)).toBeNull();
    expect(parseSights([])).toEqual([]);
  });

  it('of a newer release are refused: what they say of an answer cannot be left out', () => {
    const [sight] = seen([['a', '/x/', 'mask']]).list();
    expect(parseSights([sight])).toEqual([sight]);
    for (const later of [{ transform: 'half' }, { permission: 'token:sell' }, { region: 'eu' }]) {
      expect(() => parseSights([{ ...sight, ...later }])).toThrow(
        expect.objectContaining({ code: 'newer_definition', status: 503 }),
      );
    }
  });
});
