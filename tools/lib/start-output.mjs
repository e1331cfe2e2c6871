import { join } from 'node:path';
import { devFile } from './dev.mjs';
import { repoRoot } from './repo.mjs';
import { tourText } from './tour.mjs';

const weak = `
WARNING: SANDBOX_ALLOW_WEAK is set. Code of reactors and transforms is NOT contained: it can read
and change everything that this user can. Run only code that you trust.
`;

/**
 * What npm start prints once the product runs: the tour, and below it what a reader keeps.
 *
 * @param {import('./types.js').Dev & { readonly consoleLink: string }} dev
 * @param {string} folder
 * @param {{ isDefaultFolder: boolean }} options
 */
export const startOutput = (dev, folder, { isDefaultFolder }) => `
A tour, the same as in README.md. Paste it into another terminal:

cd ${quoted(repoRoot)}${isDefaultFolder ? '' : ` && export GLOVEBOX_DIR=${quoted(folder)}`}

${tourText(dev.tour)}

Base URL          ${dev.baseUrl}
API documentation ${dev.baseUrl}/docs
Console           ${dev.consoleUrl}
Forward proxy     ${dev.forwardUrl}
${dev.inspectorPort === undefined ? '' : `Debuggers         127.0.0.1:${dev.inspectorPort}, for glovebox dev --inspect\n`}Management key    ${dev.adminKey}
Private key       ${dev.privateKey}
Demo destination  ${dev.demoDestination}
Sandboxes         ${dev.sandboxes}
Logs              ${join(folder, 'logs')}
All of this       ${devFile(folder)}
${dev.sandboxes.startsWith('level 0') ? weak : ''}
${reachable(dev.allow)}

This link opens the console as the operator of the demo tenant, once, within five minutes. For another:
npm run console:link
${dev.consoleLink}
`;

/** @param {readonly string[]} allow */
function reachable(allow) {
  const others = allow.length === 0 ? '' : `, ${allow.join(', ')}`;
  return `Proxies, webhooks and code reach public addresses, the demo destination${others} and nothing else. For a
service on this machine: npm start -- --allow 127.0.0.1:3000`;
}

/**
 * A word of the shell.
 *
 * @param {string} text
 */
export const quoted = (text) =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
