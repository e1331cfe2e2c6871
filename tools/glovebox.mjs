// npm run glovebox -- COMMAND
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildStaleApps, cliRoot } from './build.mjs';
import { readDev } from './lib/dev.mjs';
import { repoRoot, stateFolder } from './lib/repo.mjs';

/** Where nothing else is said, the command talks to the product of npm start, as its demo tenant. */
const dev = readDev(stateFolder);
const isSaid = ['GLOVEBOX_URL', 'GLOVEBOX_KEY', 'GLOVEBOX_PROFILE'].some(
  (name) => process.env[name],
);
const demo =
  dev && !isSaid
    ? {
        GLOVEBOX_URL: dev.baseUrl,
        GLOVEBOX_KEY: dev.adminKey,
        GLOVEBOX_PRIVATE_KEY: dev.privateKey,
        GLOVEBOX_CONSOLE_URL: dev.consoleUrl,
      }
    : {};

await buildStaleApps([cliRoot]);
const program = join(repoRoot, 'dist', cliRoot, 'glovebox.mjs');
const { status, signal } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], {
  stdio: 'inherit',
  // npm runs scripts in the folder of the repository.
  cwd: process.env.INIT_CWD ?? process.cwd(),
  env: { ...process.env, ...demo },
});
process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1);
