import type { Glovebox } from '@glovebox/client';
import { Failure } from './failure';

export interface Found {
  readonly kind: 'reactor' | 'proxy';
  readonly id: string;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const paths = { reactor: '/reactors', proxy: '/proxies' } as const;
const kinds = ['reactor', 'proxy'] as const;

/** A deployed reactor or proxy by its slug, or by its id. */
export async function findByName(
  api: Glovebox,
  name: string,
  wanted: readonly Found['kind'][] = kinds,
): Promise<Found> {
  const query = uuid.test(name) ? { id: [name] } : { slug: name };
  for (const kind of wanted) {
    const { data } = await api.get(paths[kind], { params: { query } });
    const [found] = data;
    if (found) return { kind, id: found.id };
  }
  throw new Failure(
    'rejected',
    `There is no ${wanted.join(' or ')} "${name}".`,
    'Is it pushed? `glovebox diff` shows what is not.',
  );
}
