import { parseArgs } from 'node:util';
import { loadManagementConfig } from './config';
import { createManagementContext } from './context';
import { runCommand } from './run-command';
import { issueManagementKey } from './tenants/issue-management-key';
import { isUuid } from './validation/uuid';

void runCommand(async () => {
  const { values } = parseArgs({ options: { tenant: { type: 'string' } } });
  const { tenant } = values;
  if (!isUuid(tenant)) throw new Error('usage: --tenant ID');
  const ctx = await createManagementContext(loadManagementConfig(process.env));
  try {
    await ctx.definitions.start();
    return JSON.stringify(await issueManagementKey(ctx, tenant.toLowerCase()));
  } finally {
    await ctx.close();
  }
});
