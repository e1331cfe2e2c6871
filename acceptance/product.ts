import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { waitFor } from '@glovebox/testing';

/** The running product as `npm start` describes it. */
export interface Product {
  readonly baseUrl: string;
  readonly managementUrl: string;
  readonly adminKey: string;
  readonly privateKey: string;
  readonly secondTenant: { readonly adminKey: string; readonly privateKey: string };
  readonly forwardUrl: string;
  /** Where debuggers of dry runs come in. */
  readonly inspectorPort: number;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly pids: Readonly<Record<string, number>>;
}

export function runningProduct(): Product {
  return JSON.parse(readFileSync(devFile(), 'utf8')) as Product;
}

/** The environment in which the product's own scripts find the running product. */
export function scriptEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, GLOVEBOX_DIR: dirname(devFile()) };
}

export function devFile(): string {
  const file = process.env.ACCEPTANCE_DEV_JSON;
  if (!file) throw new Error('Run these specs with `npm test`: they need a running product');
  return file;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; throws when it is not JSON. */
  readonly body: Record<string, unknown>;
}

export async function call(
  method: string,
  url: string,
  options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: {
      ...(options.key === undefined ? {} : { 'SVC-API-KEY': options.key }),
      ...(options.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    redirect: 'manual',
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    get body() {
      return JSON.parse(text) as Record<string, unknown>;
    },
  };
}

/** Creates a resource and returns the answer; throws on any status but 201. */
export async function create(
  product: Product,
  path: string,
  body: unknown,
  key = product.adminKey,
): Promise<Record<string, unknown> & { id: string }> {
  const answer = await call('POST', `${product.baseUrl}${path}`, { key, body });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return answer.body as Record<string, unknown> & { id: string };
}

/** Creates an application with these permissions on tokens, which sees their data. */
export function revealingApplication(
  product: Product,
  permissions: readonly string[],
  adminKey = product.adminKey,
): ReturnType<typeof create> {
  const rule = {
    priority: 1,
    container: '/',
    transform: 'reveal',
    permissions: permissions.map((name) => `token:${name}`),
  };
  const body = { name: 'revealing', type: 'private', rules: [rule] };
  return create(product, '/applications', body, adminKey);
}

/** Creates a reactor that runs this code; returns its id. */
export async function reactorOf(
  product: Product,
  code: string,
  formula: Record<string, unknown> = {},
): Promise<string> {
  const name = `formula ${randomUUID()}`;
  const { id } = await create(product, '/reactor-formulas', {
    type: 'private',
    name,
    code,
    ...formula,
  });
  const reactor = await create(product, '/reactors', {
    name,
    configuration: {},
    formula: { id },
  });
  return reactor.id;
}

/** Waits until the condition holds. An error counts as "not yet". */
export async function until(condition: () => Promise<boolean>, withinMs = 10_000): Promise<void> {
  await waitFor(condition, { timeoutMs: withinMs, intervalMs: 2 });
}
