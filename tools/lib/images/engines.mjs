import { join } from 'node:path';
import { run } from '../processes.mjs';
import { Trouble } from '../progress.mjs';
import { imageName, runOrFail, storeOptions } from './build.mjs';
import { appNames } from '../repo.mjs';

/**
 * @typedef {{
 *   name: string,
 *   command: string,
 *   options: readonly string[],
 *   perContainer: readonly string[],
 *   workFolder: string,
 *   prepare(tag: string): Promise<void>,
 *   forget(tag: string): Promise<void>,
 * }} Engine
 */

/**
 * Podman, whose store is that of the build. Without systemd it has no timer for health checks.
 *
 * @param {string} folder
 * @returns {Engine}
 */
export const podman = (folder) => ({
  name: 'podman',
  command: 'podman',
  options: [...storeOptions(folder), '--cgroup-manager', 'cgroupfs', '--runtime', 'runc'],
  // Without these it asks for more than a container of this machine may have.
  perContainer: ['--no-healthcheck', '--ulimit=nofile=1024:1024', '--ulimit=nproc=20000:20000'],
  workFolder: '--mount=type=tmpfs,destination=/run/runner,U=true',
  prepare: async () => undefined,
  forget: async () => undefined,
});

/**
 * The Docker of this machine, if one answers.
 *
 * @param {string} folder
 * @returns {Promise<Engine | undefined>}
 */
export async function docker(folder) {
  const { code } = await run('docker', ['info'], { timeoutMs: 10_000 });
  if (code !== 0) return undefined;
  return {
    name: 'docker',
    command: 'docker',
    options: [],
    perContainer: [],
    workFolder: '--tmpfs=/run/runner:size=64m,mode=0711,uid=10014,gid=10014',
    async prepare(tag) {
      for (const app of appNames) {
        const archive = join(folder, `${app}.tar`);
        const image = imageName(app, tag);
        const to = `docker-archive:${archive}:${image}`;
        await runOrFail('buildah', [...storeOptions(folder), 'push', '--quiet', image, to]);
        await runOrFail('docker', ['load', '--quiet', '--input', archive]);
      }
    },
    async forget(tag) {
      await run('docker', ['rmi', '--force', ...appNames.map((app) => imageName(app, tag))]);
    },
  };
}

/** Containers of one engine: their names are those of the apps, with a prefix of this run. */
export class Containers {
  #engine;
  #tag;
  /** @type {Set<string>} */
  #started = new Set();

  /**
   * @param {Engine} engine
   * @param {string} tag
   */
  constructor(engine, tag) {
    this.#engine = engine;
    this.#tag = tag;
  }

  /** @param {readonly string[]} args */
  #run(args) {
    return runOrFail(this.#engine.command, [...this.#engine.options, ...args]);
  }

  /** @param {string} app */
  nameOf(app) {
    return `glovebox-${this.#tag}-${app}`;
  }

  /**
   * Read-only, without capabilities and without a way to get any, as k8s/base runs it.
   *
   * @param {string} app
   * @param {{ envFile: string, seccomp?: string | undefined, detached?: boolean, command?: readonly string[] }} options
   */
  async start(app, { envFile, seccomp, detached = true, command = [] }) {
    const name = this.nameOf(app);
    this.#started.add(name);
    const work = app === 'runner' ? [this.#engine.workFolder] : [];
    return this.#run([
      ...['run', '--name', name, ...(detached ? ['--detach'] : ['--rm']), '--network=host'],
      ...['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'],
      ...(seccomp === undefined ? [] : [`--security-opt=seccomp=${seccomp}`]),
      ...['--tmpfs=/tmp:size=64m,mode=1777', ...work, `--env-file=${envFile}`],
      ...[...this.#engine.perContainer, imageName(app, this.#tag), ...command],
    ]);
  }

  /**
   * @param {string} app
   * @param {readonly string[]} command
   */
  inside(app, command) {
    return this.#run(['exec', this.nameOf(app), ...command]);
  }

  /** @param {string} app */
  async sizeMb(app) {
    const format = ['--format', '{{.Size}}'];
    const size = await this.#run(['image', 'inspect', ...format, imageName(app, this.#tag)]);
    return Math.ceil(Number(size) / 1e6);
  }

  /**
   * Asks the app to end, and returns the exit code of its container.
   *
   * @param {string} app
   */
  async stop(app) {
    const name = this.nameOf(app);
    await this.#run(['stop', '--time', '60', name]);
    const code = await this.#run(['inspect', '--format', '{{.State.ExitCode}}', name]);
    await this.#run(['rm', '--force', name]);
    return Number(code);
  }

  /** @param {string} app */
  async logs(app) {
    const { output } = await run(this.#engine.command, [
      ...[...this.#engine.options, 'logs', '--tail', '15', this.nameOf(app)],
    ]);
    return output;
  }

  /** What is left after a failure. */
  async removeAll() {
    for (const name of this.#started) {
      await run(this.#engine.command, [...this.#engine.options, 'rm', '--force', name]);
    }
    await this.#engine.forget(this.#tag);
  }
}

/** @param {readonly string[]} programs */
export async function requirePrograms(programs) {
  const checks = programs.map(async (name) => {
    const { code } = await run('sh', ['-c', `command -v ${name}`]);
    return code === 0 ? [] : [name];
  });
  const missing = (await Promise.all(checks)).flat();
  if (missing.length === 0) return;
  throw new Trouble(
    `${missing.join(', ')} is missing. On Debian:\n` +
      '  apt-get install --no-install-recommends buildah podman runc conmon mmdebstrap \\\n' +
      '    golang-github-containers-common curl',
  );
}
