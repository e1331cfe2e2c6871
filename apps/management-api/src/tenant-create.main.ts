import { parseArgs } from 'node:util';
import { loadManagementConfig } from './config';
import { createManagementContext } from './context';
import { runCommand } from './run-command';
import { createTenant } from './tenants/create-tenant';

void runCommand(async () => {
  const { values } = parseArgs({
    options: { name: { type: 'string' }, demo: { type: 'boolean', default: false } },
  });
  const name = values.name?.trim() ?? '';
  if (name === '' || name.length > 200) throw new Error('usage: --name NAME [--demo]');
  const ctx = await createManagementContext(loadManagementConfig(process.env));
  try {
    await ctx.definitions.start();
    return JSON.stringify(await createTenant(ctx, { name, demo: values.demo }));
  } finally {
    await ctx.close();
  }
});
