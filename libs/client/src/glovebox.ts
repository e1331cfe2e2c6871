import createClient, {
  type Client,
  type ClientPathsWithMethod,
  type MaybeOptionalInit,
  type MethodResponse,
} from 'openapi-fetch';
import { AsyncRun, type ReactorResponse } from './async-run';
import { errorOf, NoAnswer, type GloveboxError } from './errors';
import { send, type CallOptions } from './send';
import type { components, paths } from './api';

type Schemas = components['schemas'];

export interface GloveboxOptions extends CallOptions {
  /** The base URL. `GLOVEBOX_URL` by default. */
  readonly url?: string | undefined;
  /** The key of an application. `GLOVEBOX_KEY` by default. */
  readonly key?: string | undefined;
  /** Whether members that nothing reads are refused. True by default. */
  readonly strict?: boolean;
  readonly fetch?: typeof globalThis.fetch;
}

interface KeyedOptions extends CallOptions {
  /** Of a POST. One of its own by default, the same for all its repetitions. */
  readonly idempotencyKey?: string | undefined;
}

type Api = Client<paths, 'application/json'>;
type Untyped = (...args: unknown[]) => Promise<{ data: unknown }>;
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Answer<Path extends ClientPathsWithMethod<Api, How>, How extends Method> = MethodResponse<
  Api,
  How,
  Path
>;
type Arguments<Path extends keyof paths, How extends Method> =
  undefined extends MaybeOptionalInit<paths[Path], How>
    ? [init?: NonNullable<MaybeOptionalInit<paths[Path], How>> & KeyedOptions]
    : [init: MaybeOptionalInit<paths[Path], How> & KeyedOptions];
type Calling<How extends Method> = <Path extends ClientPathsWithMethod<Api, How>>(
  path: Path,
  ...init: Arguments<Path, How>
) => Promise<Answer<Path, How>>;

interface Page {
  readonly pagination: { readonly after?: string };
  readonly data: readonly unknown[];
}
type Lists = {
  [Path in ClientPathsWithMethod<Api, 'get'>]: Answer<Path, 'get'> extends Page ? Path : never;
}[ClientPathsWithMethod<Api, 'get'>];
type Entry<Path extends Lists> = Answer<Path, 'get'> extends { data: (infer One)[] } ? One : never;

export interface ProxyInit extends CallOptions {
  /** The key of a stored proxy. */
  readonly proxyKey?: string;
  /** A destination in its place, where the tenant allows it. */
  readonly proxyUrl?: string;
  readonly method?: string;
  readonly headers?: RequestInit['headers'];
  readonly body?: RequestInit['body'];
}

/** Calls Glovebox. What is no success is thrown: `GloveboxError`, or `NoAnswer`. */
export class Glovebox {
  /** The client of openapi-fetch, for answers with their headers. It throws as everything here. */
  readonly api: Api;
  readonly get = this.#calling('get');
  readonly post = this.#calling('post');
  readonly put = this.#calling('put');
  readonly patch = this.#calling('patch');
  readonly delete = this.#calling('delete');
  readonly #url: string;
  readonly #key: string | undefined;

  constructor(private readonly options: GloveboxOptions = {}) {
    const url = options.url ?? variable('GLOVEBOX_URL');
    if (url === undefined) throw new Error('Say the url of Glovebox, or set GLOVEBOX_URL.');
    this.#url = url.replace(/\/+$/, '');
    this.#key = options.key ?? variable('GLOVEBOX_KEY');
    this.api = createClient({
      baseUrl: this.#url,
      fetch: (request) => this.#send(request, {}),
      headers: this.#key === undefined ? {} : { 'SVC-API-KEY': this.#key },
    });
  }

  /** Runs a reactor. */
  react(
    reactorId: string,
    body: Omit<Schemas['Invocation'], 'callback_url' | 'timeout_ms'>,
    options: KeyedOptions = {},
  ): Promise<ReactorResponse> {
    const params = { path: { id: reactorId } };
    const answer = this.post('/reactors/{id}/react', { ...options, params, body });
    return answer as Promise<ReactorResponse>;
  }

  /** Starts a run in the background. Its webhook goes to `callback_url`. */
  async reactAsync(
    reactorId: string,
    body: Schemas['Invocation'] & { readonly callback_url: string },
    options: KeyedOptions = {},
  ): Promise<AsyncRun> {
    const params = { path: { id: reactorId } };
    const answer = await this.post('/reactors/{id}/react', { ...options, params, body });
    return new AsyncRun(this, reactorId, (answer as Schemas['AsyncRequest']).async_request_id);
  }

  /** Calls through a proxy. Every answer of the destination is returned, whatever its status. */
  proxy(
    path: string,
    { proxyKey, proxyUrl, method = 'GET', ...init }: ProxyInit,
  ): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#key !== undefined) headers.set('SVC-API-KEY', this.#key);
    if (proxyKey !== undefined) headers.set('SVC-PROXY-KEY', proxyKey);
    if (proxyUrl !== undefined) headers.set('SVC-PROXY-URL', proxyUrl);
    return send(this.#fetch, {
      ...{ ...init, ...this.#limits(init), method, headers, redirect: 'manual' as const },
      url: `${this.#url}/proxy${path === '' || path.startsWith('/') ? path : `/${path}`}`,
      isRepeatable: method === 'GET' || method === 'HEAD',
      failureIn: failureOfProxy,
    });
  }

  /** All entries of a list, in order. The next page is read when it is wanted. */
  async *each<Path extends Lists>(
    path: Path,
    ...init: Arguments<Path, 'get'>
  ): AsyncGenerator<Entry<Path>, void, undefined> {
    for await (const page of this.pages(path, ...init)) yield* (page as Page).data as Entry<Path>[];
  }

  /** All pages of a list. */
  async *pages<Path extends Lists>(
    path: Path,
    ...[init]: Arguments<Path, 'get'>
  ): AsyncGenerator<Answer<Path, 'get'>, void, undefined> {
    const get = this.get as unknown as (path: string, init: object) => Promise<Page>;
    const { params, ...rest } = (init ?? {}) as { params?: { query?: object } };
    let query: { readonly after?: string } = params?.query ?? {};
    for (;;) {
      const page = await get(path, { ...rest, params: { ...params, query } });
      yield page as Answer<Path, 'get'>;
      const { after } = page.pagination;
      if (after === undefined) return;
      query = { ...query, page: undefined, after } as typeof query;
    }
  }

  /** All tokens that a query finds. */
  async *search(
    query: string,
    { size, ...options }: CallOptions & { readonly size?: number } = {},
  ): AsyncGenerator<Schemas['Token'], void, undefined> {
    let after: string | undefined;
    do {
      const body = { query, ...(size && { size }), ...(after && { after }) };
      const page: Schemas['TokenPage'] = await this.post('/tokens/search', { ...options, body });
      yield* page.data;
      after = page.pagination.after;
    } while (after !== undefined);
  }

  #calling<How extends Method>(method: How): Calling<How> {
    const call = async (path: string, init: KeyedOptions & Record<string, unknown> = {}) => {
      const { timeoutMs, retries, idempotencyKey, ...rest } = init;
      const request = this.api.request as unknown as Untyped;
      const own = { timeoutMs, retries, idempotencyKey };
      const fetch = (one: Request): Promise<Response> => this.#send(one, own);
      return (await request(method, path, { ...rest, fetch })).data;
    };
    return call as unknown as Calling<How>;
  }

  async #send(request: Request, { idempotencyKey, ...own }: KeyedOptions): Promise<Response> {
    const { method, url, signal } = request;
    const headers = new Headers(request.headers);
    const hasBody = ['POST', 'PUT', 'PATCH'].includes(method);
    if (hasBody) {
      headers.set('SVC-STRICT', headers.get('SVC-STRICT') ?? String(this.options.strict ?? true));
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      headers.set('Content-Type', type);
    }
    if (method === 'POST' && !headers.has('SVC-IDEMPOTENCY-KEY')) {
      headers.set('SVC-IDEMPOTENCY-KEY', idempotencyKey ?? crypto.randomUUID());
    }
    return send(this.#fetch, {
      ...this.#limits({ ...own, signal }),
      ...{ url, method, headers, redirect: 'error' as const },
      body: hasBody ? await request.text() : undefined,
      // A second time, the first has changed the version.
      isRepeatable: !headers.has('If-Match'),
      failureIn: failureOfApi,
    });
  }

  #limits({ timeoutMs, retries, signal }: CallOptions): CallOptions {
    const { timeoutMs: wholeMs, retries: most, signal: all } = this.options;
    const either = signal && all ? AbortSignal.any([signal, all]) : (signal ?? all);
    const ended = either && { signal: either };
    return { ...ended, timeoutMs: timeoutMs ?? wholeMs, retries: retries ?? most };
  }

  get #fetch(): typeof globalThis.fetch {
    // Browsers want it called without a receiver.
    const { fetch = globalThis.fetch } = this.options;
    return (input, init) => fetch(input, init);
  }
}

async function failureOfApi(answer: Response): Promise<GloveboxError | NoAnswer | undefined> {
  if (answer.ok) return undefined;
  const problem = problemIn(await answer.text());
  return problem
    ? errorOf(problem, answer.headers)
    : new NoAnswer(`${answer.status} of something in front of Glovebox.`);
}

/** An error of a proxy is short. A longer answer is that of the destination. */
const problemBytesMax = 64 * 1024;

async function failureOfProxy(answer: Response): Promise<GloveboxError | undefined> {
  const { status, headers } = answer;
  const isOfDestination = headers.get('svc-proxy-destination-status') === String(status);
  const bytes = Number(headers.get('content-length') ?? Infinity);
  if (status < 400 || isOfDestination || bytes > problemBytesMax) return undefined;
  const problem = problemIn(await answer.clone().text(), 'proxy_error');
  return problem && errorOf(problem, headers);
}

function problemIn(text: string, member?: string): Schemas['Problem'] | undefined {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const found = (member === undefined ? body : body[member]) as Schemas['Problem'] | undefined;
    return typeof found?.code === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

/** There are no variables in browsers. */
const variable = (name: string): string | undefined =>
  (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env[name];
