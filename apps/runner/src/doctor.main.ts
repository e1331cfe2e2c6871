import { mkdirSync, mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askResolvers, createEgress, findOpenWays } from '@glovebox/egress';
import { fault, ok, runDoctor, warning, type Finding } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { readConfig, type RunnerConfig } from './config';
import { describeLevel, findLevel } from './process/isolation-levels';
import { locateFiles } from './process/launcher';

void runDoctor({
  app: 'runner',
  args: process.argv.slice(2),
  examine() {
    const config = readConfig(process.env, __dirname);
    const egress = createEgress(config.egress, { lookups: new Shares({ places: 8 }) });
    const work = ownFolder(config.workDir);
    return Promise.resolve({
      ops: { HOST: config.host, OPS_PORT: config.opsPort },
      checks: [
        { name: 'sandbox level', run: () => tryLevels(config, work) },
        { name: 'egress', run: (signal: AbortSignal) => findOpenWays(egress, [], signal) },
        { name: 'names', run: (signal: AbortSignal) => askResolvers(egress, signal) },
      ],
      close() {
        rmSync(work, { recursive: true, force: true });
        return Promise.resolve();
      },
    });
  },
});

/** Beside the files of a runner that is at work. */
function ownFolder(workDir = tmpdir()): string {
  mkdirSync(workDir, { recursive: true });
  const folder = mkdtempSync(join(workDir, 'doctor-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** Tries to break out, as a runner does when it starts. One runtime is enough to tell the level. */
async function tryLevels(config: RunnerConfig, workDir: string): Promise<Finding> {
  const files = locateFiles({ ...config, workDir });
  const [first] = Object.entries(files.runtimes);
  if (first === undefined) {
    return fault(
      `no runtime is installed in ${config.runtimesDir}`,
      'Install one: npm ci --ignore-scripts --prefix, with its folder',
    );
  }
  const runtimes = Object.fromEntries([first]);
  const limits = config.launchLimits;
  const found = await findLevel({ files: { ...files, runtimes }, limits, workDir }, config.level);
  const says = describeLevel(found);
  const remedy = 'See "Levels of the sandbox" in k8s/README.md for what the node has to allow';
  if (found.level === 0) return fault(says, remedy);
  return found.level === 2 && config.level === 'auto' ? warning(says, remedy) : ok(says);
}
