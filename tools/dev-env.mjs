// Prints shell exports for the product that `npm start` runs: eval "$(node tools/dev-env.mjs)"
import { readDev } from './lib/dev.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { stateFolder } from './lib/repo.mjs';

const help = `
eval "$(node tools/dev-env.mjs)"

Sets BASE_URL, ADMIN_KEY, PRIVATE_KEY and DEMO_URL to those of the running product. In zsh it also turns
comments on, so that the tour can be pasted whole.`;

await script(help, async () => {
  const dev = readDev(stateFolder);
  if (!dev) throw new Trouble('Glovebox is not running: npm start');
  console.log(`export BASE_URL=${dev.baseUrl}`);
  console.log(`export ADMIN_KEY=${dev.adminKey} PRIVATE_KEY=${dev.privateKey}`);
  console.log(`export DEMO_URL=${dev.demoDestination}`);
  console.log('[ -z "${ZSH_VERSION-}" ] || setopt interactive_comments');
});
