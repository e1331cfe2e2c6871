import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;

export interface OtherApi {
  readonly url: string;
  readonly managementKey: string;
  readonly tokenKey: string;
  /** Paths with their query, as they were asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

export interface OtherResources {
  readonly applications?: readonly Json[];
  /** None: a newer release, which has no formulas. */
  readonly formulas?: readonly Json[];
  readonly reactors?: readonly Json[];
  readonly proxies?: readonly Json[];
  readonly tokens: { readonly count: number; readonly at: (nth: number) => Json | string };
  /** The application of the key that reads tokens. */
  readonly reader: Json;
  /** None: an older release, whose tokens have pages by number alone. */
  readonly hasCursor?: boolean;
  /** Each path is too busy the first time. */
  readonly isBusy?: boolean;
}

/** Answers as an API of the form of Basis Theory does: its pages, its statuses and its keys. */
export async function startOtherApi(resources: OtherResources): Promise<OtherApi> {
  const [managementKey, tokenKey] = ['key_other_management', 'key_other_tokens'];
  const asked: string[] = [];
  const busy = new Set<string>();
  const lists: Readonly<Record<string, readonly Json[] | undefined>> = {
    '/applications': resources.applications ?? [],
    '/reactor-formulas': resources.formulas,
    '/reactors': resources.reactors ?? [],
    '/proxies': resources.proxies ?? [],
  };
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://other');
    asked.push(req.url ?? '');
    const key = req.headers['bt-api-key'];
    const size = Number(searchParams.get('size') ?? 20);
    if (resources.isBusy && !busy.has(pathname)) {
      busy.add(pathname);
      res.setHeader('Retry-After', '0');
      return send(res, 429, { title: 'Too many requests' });
    }
    const isOfTokens = pathname.includes('token') || pathname === '/applications/key';
    if (key !== (isOfTokens ? tokenKey : managementKey)) {
      return send(res, 401, { title: 'Unauthorized', status: 401 });
    }
    if (pathname === '/applications/key') return send(res, 200, resources.reader);
    if (pathname === '/v2/tokens' && resources.hasCursor) {
      return send(res, 200, cursorPage(resources.tokens, searchParams.get('start'), size));
    }
    const page = Number(searchParams.get('page') ?? 1);
    if (pathname === '/tokens') return send(res, 200, numberedPage(resources.tokens, page, size));
    const list = lists[pathname];
    if (!list) return send(res, 404, { title: 'Not found', status: 404 });
    const entries = { count: list.length, at: (nth: number) => list[nth] ?? {} };
    send(res, 200, numberedPage(entries, page, size));
  };
  const server = createServer((req, res) => {
    req.resume();
    answer(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, managementKey, tokenKey, asked },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Entries = OtherResources['tokens'];

const partOf = ({ count, at }: Entries, from: number, size: number): (Json | string)[] =>
  Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, n) => at(from + n));

function numberedPage(entries: Entries, page: number, size: number): Json {
  const { count } = entries;
  const pagination = {
    ...{ total_items: count, page_number: page, page_size: size },
    total_pages: Math.ceil(count / size),
  };
  return { pagination, data: partOf(entries, (page - 1) * size, size) };
}

function cursorPage(entries: Entries, start: string | null, size: number): Json {
  const from = Number(start ?? 0);
  const next = from + size < entries.count ? String(from + size) : null;
  return { pagination: { page_size: size, next }, data: partOf(entries, from, size) };
}

/** Entries that are texts are JSON already. */
function send(res: ServerResponse, status: number, body: Json): void {
  const { data, ...others } = body;
  const entries = (data as (Json | string)[] | undefined)?.map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one),
  );
  const text = JSON.stringify(others);
  res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  res.end(entries ? `${text.slice(0, -1)},"data":[${entries.join()}]}` : text);
}
