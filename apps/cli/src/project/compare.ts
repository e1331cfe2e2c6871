import { isDeepStrictEqual } from 'node:util';
import type { Glovebox } from '@glovebox/client';
import { deployedItems } from './deployed';
import { itemOf, sheetOf, type Item, type Kind, type LocalItem, type Sheet } from './items';
import { readProject, slugOf } from './project';
import { withoutValues } from './steps';

/** A resource on both sides, or on one of them. */
export interface Compared {
  readonly kind: Kind;
  readonly slug: string;
  readonly local: (LocalItem & { readonly sheet: Sheet }) | undefined;
  readonly deployed: { readonly item: Item; readonly sheet: Sheet } | undefined;
  readonly isSame: boolean;
}

/** Files and what is deployed, side by side. Neither side shows a value of a configuration. */
export async function compare(root: string, api: Glovebox): Promise<Compared[]> {
  const locals: LocalItem[] = [];
  for (const files of readProject(root)) locals.push(await itemOf(root, files, undefined));
  const keyOf = ({ kind, slug }: Item): string => `${kind} ${slug}`;
  const byKey = new Map(locals.map((local) => [keyOf(local.item), local]));
  const idOf = new Map(
    locals.flatMap(({ item }) => (item.id === undefined ? [] : [[item.id, item.slug]])),
  );
  const taken = new Set(byKey.keys());
  const deployed = await deployedItems(api, (kind, { id, name }, isDeployed) => {
    const known = idOf.get(id);
    if (known !== undefined && !isDeployed(known)) return known;
    const slug = freeSlug(name, (one) => isDeployed(one) || taken.has(`${kind} ${one}`));
    taken.add(`${kind} ${slug}`);
    return slug;
  });
  const inForce = new Map(deployed.map((item) => [keyOf(item), item]));
  const keys = [...new Set([...byKey.keys(), ...inForce.keys()])];
  return keys.map((key) => {
    const local = byKey.get(key);
    const item = inForce.get(key);
    const mine = local && { ...local, sheet: sheetOf(local.item) };
    const shown = item && { ...item, ...withoutValues(item, local?.files.members) };
    const theirs = shown && { item: shown, sheet: sheetOf(shown) };
    const { kind, slug } = (local?.item ?? item) as Item;
    const isSame = isDeepStrictEqual(mine?.sheet, theirs?.sheet);
    return { kind, slug, local: mine, deployed: theirs, isSame };
  });
}

function freeSlug(name: string, isTaken: (slug: string) => boolean): string {
  const base = slugOf(name);
  for (let nth = 1; ; nth += 1) {
    const slug = nth === 1 ? base : `${base}-${nth}`;
    if (!isTaken(slug)) return slug;
  }
}

const folders: Readonly<Record<Kind, string>> = {
  application: 'applications',
  reactor: 'reactors',
  proxy: 'proxies',
};

/** The files of a resource, by their paths without the end of code. */
export const yamlFileOf = (kind: Kind, slug: string): string =>
  kind === 'application' ? `applications/${slug}.yaml` : `${folders[kind]}/${slug}/${kind}.yaml`;

export const codeFileOf = (kind: Kind, slug: string, name: string): string =>
  `${folders[kind]}/${slug}/${name}`;
