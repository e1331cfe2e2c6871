import { randomUUID } from 'node:crypto';
import type { Role } from '@glovebox/access';
import { record } from '@glovebox/database';
import type { ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { makeCode } from './sessions';

/** The port of npm start, and of `kubectl port-forward` as the documentation has it. */
const usualPort = 8084;

/** Makes a link that signs in the operator of a tenant, once. */
export async function makeLink(
  ctx: ManagementContext,
  { tenantId, role }: { readonly tenantId: string; readonly role: Role },
): Promise<string> {
  const name = role === 'admin' ? 'operator' : `operator (${role})`;
  const code = await makeCode(ctx, { tenantId, issuer: 'link', subject: name, name, role });
  await record(eachInTenant(ctx.dataSource, tenantId), {
    tenantId,
    actorId: null,
    operation: 'console.create_link',
    entityType: 'tenant',
    entityId: tenantId,
    outcome: 'success',
    traceId: randomUUID(),
  });
  const { CONSOLE_URL: url, CONSOLE_PORT: port = usualPort } = ctx.config;
  return `${url === undefined ? `http://127.0.0.1:${port}` : new URL(url).origin}/#code=${code}`;
}
