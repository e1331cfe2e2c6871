// npm run console:link [-- TENANT] [--role ROLE]
import { parseArgs } from 'node:util';
import { createConsoleLink } from './lib/database.mjs';
import { devStores } from './lib/dev-database.mjs';
import { script, Trouble } from './lib/progress.mjs';

const help = `
npm run console:link [-- TENANT] [--role viewer|author|admin]

Prints a link to the console that works once, for five minutes, and signs in as the operator of the tenant:
of the demo tenant of npm start unless its id is given. An admin may do what a management key may, an
author changes and runs code, a viewer reads.`;

await script(help, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: { role: { type: 'string', default: 'admin' } },
    allowPositionals: true,
  });
  const { urls, redisUrl, keyRing, dev } = await devStores(process.env);
  const tenant = positionals[0] ?? dev?.tenantId;
  const consoleUrl = process.env.CONSOLE_URL || dev?.consoleUrl;
  if (!tenant || !consoleUrl || positionals.length > 1) throw new Trouble(help.trim());
  const link = { tenant, role: values.role, consoleUrl };
  const stores = { databaseUrl: urls.management, redisUrl, keyRing };
  console.log(await createConsoleLink(link, stores));
});
