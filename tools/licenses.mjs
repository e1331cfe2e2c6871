// npm run licenses [-- --json]
import { script, Trouble } from './lib/progress.mjs';
import { mayShip, shippedPackages } from './lib/release/licences.mjs';

const help = `
npm run licenses [-- --json]

Lists the packages that are shipped, with their licences: those of the apps, those that code of customers may require,
and the Node.js runtimes of code. Ends with 1 if one has a licence that forbids it.`;

await script(help, async (args) => {
  const shipped = shippedPackages();
  if (args.includes('--json')) console.log(JSON.stringify(shipped, null, 2));
  else {
    for (const { name, version, licence, part } of shipped) {
      console.log(`${(licence ?? 'none').padEnd(28)}${name}@${version} (${part})`);
    }
  }
  const forbidden = shipped.filter(({ licence }) => !mayShip(licence));
  if (forbidden.length === 0) return;
  const names = forbidden.map(({ name, licence }) => `${name} (${licence ?? 'none'})`);
  throw new Trouble(`May not be shipped: ${names.join(', ')}`);
});
