import type { Problem } from './api-types';

/** The management API could not be asked: nothing is known of what became of the request. */
export class Away extends Error {
  constructor() {
    super('The management API is away.');
  }
}

export class Refused extends Error {
  constructor(
    readonly problem: Problem,
    readonly traceId: string | undefined,
  ) {
    super(problem.detail ?? problem.title);
  }
}

const keyItem = 'glovebox.session-key';
const answerWithinMs = 30_000;
/** The name of the header is a setting of the operator: GET /api/console tells it. */
let keyHeader = 'SVC-API-KEY';

export const sessionKey = {
  get: () => sessionStorage.getItem(keyItem),
  set: (key: string) => sessionStorage.setItem(keyItem, key),
  forget: () => sessionStorage.removeItem(keyItem),
};

export const setKeyHeader = (name: string) => {
  keyHeader = name;
};

/** Tells the page how things stand: whether the API answers, and whether the session lives. */
export const reach = {
  away: false,
  sessionOver: false,
  listeners: new Set<() => void>(),
  set(change: { away?: boolean; sessionOver?: boolean }) {
    const before = `${this.away} ${this.sessionOver}`;
    Object.assign(this, change);
    if (before !== `${this.away} ${this.sessionOver}`) this.listeners.forEach((tell) => tell());
  },
};

interface Asked {
  method?: string;
  body?: unknown;
  /** The ETag of the version that the change is made to. */
  ifMatch?: string | undefined;
  /** The same for each try of one creation. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
}

export interface Answer<Body> {
  body: Body;
  etag: string | undefined;
}

export async function ask<Body>(path: string, asked: Asked = {}): Promise<Answer<Body>> {
  const { method = 'GET', body, ifMatch, idempotencyKey, signal } = asked;
  const headers: Record<string, string> = {};
  const key = sessionKey.get();
  if (key) headers[keyHeader] = key;
  if (ifMatch) headers['If-Match'] = ifMatch;
  if (idempotencyKey) headers[keyHeader.replace(/API-KEY$/i, 'IDEMPOTENCY-KEY')] = idempotencyKey;
  if (body !== undefined) {
    headers['Content-Type'] =
      method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  }
  const limit = AbortSignal.timeout(answerWithinMs);
  const init: RequestInit = {
    method,
    headers,
    credentials: 'omit',
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const answer = await fetch(`/api${path}`, init).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    reach.set({ away: true });
    throw new Away();
  });
  const text = await answer.text().catch(() => {
    reach.set({ away: true });
    throw new Away();
  });
  const read = parse(text);
  if (answer.ok) {
    reach.set({ away: false });
    return { body: read as Body, etag: answer.headers.get('ETag') ?? undefined };
  }
  const problem = problemOf(read, answer.status);
  const isAway = answer.status === 502 || (answer.status === 503 && problem.code === 'unknown');
  reach.set({ away: isAway });
  if (isAway) throw new Away();
  if (answer.status === 401 && key && key === sessionKey.get()) reach.set({ sessionOver: true });
  throw new Refused(problem, answer.headers.get('SVC-TRACE-ID') ?? undefined);
}

/** Of no use to anybody but whoever sends it. It is made where randomUUID is not to be had, too. */
export const attemptKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

/** Changes something, and answers what became of it. */
export const send = async <Body>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  ifMatch?: string,
): Promise<Body> => (await ask<Body>(path, { method, body, ifMatch })).body;

export const get = async <Body>(path: string, signal?: AbortSignal): Promise<Body> =>
  (await ask<Body>(path, { signal })).body;

/** A path with a query of all parameters that have a value; several are joined by commas. */
export function withQuery(path: string, parameters: Record<string, string | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of value?.split(',') ?? []) if (one) query.append(name, one);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOf(read: unknown, status: number): Problem {
  if (read !== null && typeof read === 'object' && 'code' in read && 'title' in read) {
    return read as Problem;
  }
  return { code: 'unknown', status, title: `The answer was ${status} without a reason.` };
}
