import type { Api } from '../api';
import type { Item, Kind } from './items';

type Json = Readonly<Record<string, unknown>>;

interface Resource extends Json {
  readonly id: string;
  readonly name: string;
  readonly slug?: string;
  readonly application_id?: string;
  readonly configuration?: Json;
}

interface Page {
  readonly pagination: { readonly after?: string };
  readonly data: readonly Resource[];
}

/** What files call the resources that have no slug yet. */
export type SlugFor = (
  kind: Kind,
  resource: { readonly id: string; readonly name: string },
) => string;

/** What is in force, as items of a deployment would say it. No value of a configuration is kept. */
export async function deployedItems(api: Api, slugFor: SlugFor): Promise<Item[]> {
  const [applications, formulas, reactors, proxies] = await Promise.all(
    ['/applications', '/reactor-formulas', '/reactors', '/proxies'].map((path) => all(api, path)),
  );
  const formulaOf = new Map(formulas?.map((formula) => [formula.id, formula]));
  // Files are deployed with a key of a management application; they make none.
  const deployable = (applications ?? []).filter(({ type }) => type !== 'management');
  const item = (kind: Kind, resource: Resource, members: Json): Item => {
    const slug = resource.slug ?? slugFor(kind, resource);
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

async function all(api: Api, path: string): Promise<Resource[]> {
  const found: Resource[] = [];
  for (let after: string | undefined; ;) {
    const page: Page = await api.get<Page>(path, { size: '100', after });
    found.push(...page.data);
    ({ after } = page.pagination);
    if (after === undefined) return found;
  }
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

const kept = ({ configuration = {} }: Resource): Json =>
  Object.fromEntries(Object.keys(configuration).map((name) => [name, null]));

const sideOf = (proxy: Resource, member: string): Json =>
  proxy[member] === undefined ? {} : { [member]: without(proxy[member] as Json) };
