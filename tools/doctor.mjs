// npm run doctor [-- --json]
import { execFile } from 'node:child_process';
import { describeApps, runnerFolder } from './lib/apps.mjs';
import { readDev } from './lib/dev.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { entryPoint, stateFolder } from './lib/repo.mjs';
import { keyRingForScripts, secretsOf } from './lib/secrets.mjs';

const help = `
npm run doctor [-- --json]

Looks for what is wrong with the product that npm start runs: each app, its stores and its surroundings. Says what
mends it, changes nothing and prints no secret. In an image: node dist/apps/APP/doctor.main.js.

  --json   one document in place of lines

It ends with 0 if nothing is broken (warnings may be left), else with 1.`;

await script(help, async (args) => {
  const json = args.includes('--json');
  const unknown = args.find((arg) => arg !== '--json');
  if (unknown) throw new Trouble(`${unknown} is not known. ${help}`);
  const dev = readDev(stateFolder);
  if (!dev) throw new Trouble('No product runs: npm start. GLOVEBOX_DIR names another folder.');
  const examined = await Promise.all(appsOf(dev).map((app) => examine(app, args)));
  const reports = examined.map(({ report }) => report);
  console.log(json ? `[${reports.join(',\n')}]` : reports.join('\n\n'));
  if (examined.some(({ isBroken }) => isBroken)) process.exitCode = 1;
});

/**
 * @param {import('./lib/types.js').AppCommand} app
 * @param {readonly string[]} args
 * @returns {Promise<{ report: string, isBroken: boolean }>}
 */
function examine({ name, env }, args) {
  const doctor = entryPoint(name, 'doctor.main.js');
  return new Promise((resolve, reject) => {
    const command = ['--enable-source-maps', doctor, ...args];
    execFile(process.execPath, command, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      if (stdout === '') reject(new Trouble(`${doctor} did not run:\n${stderr}`));
      else resolve({ report: stdout.trim(), isBroken: error !== null });
    });
  });
}

/**
 * The apps with the settings that they were started with.
 *
 * @param {import('./lib/types.js').Dev} dev
 */
function appsOf(dev) {
  const { baseUrl, managementUrl, consoleUrl, forwardUrl, opsUrls, allow } = dev;
  /** @param {string | undefined} url */
  const portOf = (url) => Number(new URL(url ?? 'http://none').port);
  const ops = Object.fromEntries(Object.entries(opsUrls).map(([app, url]) => [app, portOf(url)]));
  return describeApps({
    env: { ...process.env, EGRESS_ALLOW: allow.join(',') },
    ports: {
      gateway: portOf(baseUrl),
      'management-api': portOf(managementUrl),
      console: portOf(consoleUrl),
      forward: portOf(forwardUrl),
      ops,
    },
    urls: dev.databaseUrls,
    redisUrl: dev.redisUrl,
    keyRing: keyRingForScripts(process.env, dev, stateFolder),
    secrets: secretsOf(stateFolder),
    workFolder: runnerFolder(stateFolder),
    demo: { address: new URL(dev.demoDestination).host },
    bwrap: dev.bubblewrap,
  });
}
