import { parseArgs } from 'node:util';
import { isRole, roles } from '@glovebox/access';
import { loadManagementConfig } from './config';
import { makeLink } from './console/link';
import { createManagementContext } from './context';
import { runCommand } from './run-command';
import { isUuid } from './validation/uuid';

void runCommand(async () => {
  const { values } = parseArgs({
    options: { tenant: { type: 'string' }, role: { type: 'string', default: 'admin' } },
  });
  const { tenant, role } = values;
  if (!isUuid(tenant) || !isRole(role)) {
    throw new Error(`usage: --tenant ID [--role ${roles.join('|')}]`);
  }
  const ctx = await createManagementContext(loadManagementConfig(process.env));
  try {
    return await makeLink(ctx, { tenantId: tenant.toLowerCase(), role });
  } finally {
    await ctx.close();
  }
});
