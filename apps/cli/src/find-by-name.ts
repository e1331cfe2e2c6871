import type { Glovebox } from '@glovebox/client';
import { Failure } from './failure';

const paths = { reactor: '/reactors', proxy: '/proxies', application: '/applications' } as const;

type Kind = keyof typeof paths;

export const callable = ['reactor', 'proxy'] as const;

export interface Found<Of extends Kind = (typeof callable)[number]> {
  readonly kind: Of;
  readonly id: string;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A deployed resource by its slug, or by its id. */
export async function findByName<Of extends Kind>(
  api: Glovebox,
  name: string,
  wanted: readonly Of[],
): Promise<Found<Of>> {
  const query = uuid.test(name) ? { id: [name] } : { slug: name };
  for (const kind of wanted) {
    const path: (typeof paths)[Kind] = paths[kind];
    const { data } = await api.get(path, { params: { query } });
    const [found] = data;
    if (found) return { kind, id: found.id };
  }
  throw new Failure(
    'rejected',
    `There is no ${wanted.join(' or ')} "${name}".`,
    'Is it pushed? `glovebox diff` shows what is not.',
  );
}
