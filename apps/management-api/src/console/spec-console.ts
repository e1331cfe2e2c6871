import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Role } from '@glovebox/access';
import type { TestProcess } from '../spec-api';
import { makeLink } from './link';

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

interface Asked {
  readonly method?: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request to the console of a process, as a page of its origin would. */
export function ask(
  { consolePort: port }: Pick<TestProcess, 'consolePort'>,
  path: string,
  { method = 'GET', key, body, headers = {} }: Asked = {},
): Promise<ConsoleAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{ port, path, method, host: '127.0.0.1', agent: false },
        headers: {
          ...(key === undefined ? {} : { 'SVC-API-KEY': key }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (answer) => {
        text(answer).then((all) => {
          const isJson = answer.headers['content-type']?.includes('json');
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: all,
            body: (isJson ? JSON.parse(all) : {}) as Record<string, unknown>,
          });
        }, reject);
      },
    );
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export async function codeOfLink(
  { ctx, tenant }: Pick<TestProcess, 'ctx' | 'tenant'>,
  role: Role = 'admin',
  tenantId = tenant.tenant_id,
): Promise<string> {
  const link = await makeLink(ctx, { tenantId, role });
  return link.slice(link.indexOf('#code=') + '#code='.length);
}

/** Signs in by a link and returns the key of the session. */
export async function signIn(
  process: TestProcess,
  role: Role = 'admin',
  tenantId?: string,
): Promise<string> {
  const code = await codeOfLink(process, role, tenantId);
  const answer = await ask(process, '/api/console/sessions', { method: 'POST', body: { code } });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.body.key as string;
}

/** Long enough ago, so that its files are known to be whole. */
export const builtAt = new Date('2026-01-01T00:00:00Z');

/** A folder as the build of the page made it. */
export function builtPage(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Console</title>');
  writeFileSync(join(folder, 'assets', 'app-1a2b.js'), `// ${'x'.repeat(1_000_000)}`);
  writeFileSync(join(folder, 'assets', 'app-1a2b.js.br'), 'packed');
  for (const name of ['index.html', 'assets']) utimesSync(join(folder, name), builtAt, builtAt);
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
