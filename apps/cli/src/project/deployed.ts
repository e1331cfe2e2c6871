import type { Glovebox } from '@glovebox/client';
import type { Item, Kind } from './items';

type Json = Readonly<Record<string, unknown>>;

interface Resource extends Json {
  readonly id: string;
  readonly name: string;
  readonly slug?: string;
  readonly application_id?: string;
  readonly configuration?: Json;
  /** In place of it: a person is told the names alone. */
  readonly configuration_set?: readonly string[];
}

/** What files call the resources that have no slug yet. */
export type SlugFor = (
  kind: Kind,
  resource: { readonly id: string; readonly name: string },
  isDeployed: (slug: string) => boolean,
) => string;

/** What is in force, as items of a deployment would say it. No value of a configuration is kept. */
export async function deployedItems(api: Glovebox, slugFor: SlugFor): Promise<Item[]> {
  const [applications, formulas, reactors, proxies] = await Promise.all(
    lists.map((path) => all(api, path)),
  );
  const formulaOf = new Map(formulas?.map((formula) => [formula.id, formula]));
  // Files are deployed with a key of a management application; they make none.
  const deployable = (applications ?? []).filter(({ type }) => type !== 'management');
  const slugsOf = (resources: readonly Resource[] = []): Set<string | undefined> =>
    new Set(resources.map(({ slug }) => slug));
  const taken: Readonly<Record<Kind, Set<string | undefined>>> = {
    application: slugsOf(deployable),
    reactor: slugsOf(reactors),
    proxy: slugsOf(proxies),
  };
  const item = (kind: Kind, resource: Resource, members: Json): Item => {
    const slug = resource.slug ?? slugFor(kind, resource, (one) => taken[kind].has(one));
    return { ...members, kind, slug, ...(resource.slug === undefined ? { id: resource.id } : {}) };
  };
  const named = deployable.map((one) => item('application', one, without(one, ['settings'])));
  const slugs = new Map(deployable.map(({ id }, nth) => [id, named[nth]?.slug]));
  const acting = ({ application_id: id }: Resource): Json => {
    if (id === undefined) return {};
    const slug = slugs.get(id);
    return { application: slug === undefined ? { id } : { slug } };
  };
  return [
    ...named,
    ...(reactors ?? []).map((reactor) => {
      const formula =
        formulaOf.get((reactor.formula as Resource).id) ?? (reactor.formula as Resource);
      return item('reactor', reactor, {
        ...without(reactor, ['formula']),
        ...acting(reactor),
        formula: without(formula),
        configuration: kept(reactor),
      });
    }),
    ...(proxies ?? []).map((proxy) =>
      item('proxy', proxy, {
        ...without(proxy, ['key', 'host']),
        ...acting(proxy),
        ...sideOf(proxy, 'request_transform'),
        ...sideOf(proxy, 'response_transform'),
        configuration: kept(proxy),
      }),
    ),
  ];
}

const lists = ['/applications', '/reactor-formulas', '/reactors', '/proxies'] as const;

async function all(api: Glovebox, path: (typeof lists)[number]): Promise<Resource[]> {
  const found: Resource[] = [];
  for await (const one of api.each(path, { params: { query: { size: 100 } } })) {
    found.push(one as unknown as Resource);
  }
  return found;
}

/** What the API adds, and files do not say. */
const added = [
  ...['id', 'tenant_id', 'slug', 'created_by', 'created_at', 'modified_by', 'modified_at'],
  ...['application_id', 'runtime_end_of_life', 'configuration_set', 'last_used_at', 'application'],
];

const without = (resource: Json, more: readonly string[] = []): Json =>
  Object.fromEntries(
    Object.entries(resource).filter(([name]) => !added.includes(name) && !more.includes(name)),
  );

const kept = ({ configuration = {}, configuration_set: names }: Resource): Json =>
  Object.fromEntries((names ?? Object.keys(configuration)).map((name) => [name, null]));

const sideOf = (proxy: Resource, member: string): Json =>
  proxy[member] === undefined ? {} : { [member]: without(proxy[member] as Json) };
