import { buildInfo } from '../build-info';
import { fault, ok, warning, type Check } from './findings';

/** Whether a process says that it waits for the operator of a restored database, and what he does. */
export const restoredDatabase = {
  isSaidIn: (state: string): boolean => state.includes('waits for after-restore'),
  remedy: 'Look at the database with after-restore --status, then accept it: docs/backup.md',
} as const;

/** Looks at a process by its ops port: whether it is ready, and which build it is. */
export const checkOfProcess = (name: string, opsUrl: string): Check => ({
  name,
  async run(signal) {
    let ready: Response;
    let metrics: string;
    try {
      ready = await fetch(new URL('/health/ready', opsUrl), { signal });
      metrics = await (await fetch(new URL('/metrics', opsUrl), { signal })).text();
    } catch {
      return fault(
        `nothing answers at ${opsUrl}`,
        'Start the process; the last line of its log says why one ended',
      );
    }
    const { components } = (await ready.json()) as { readonly components: Record<string, string> };
    const parts = Object.entries(components).map(([part, state]) => `${part} ${state}`);
    const build = /^glovebox_build_info\{(.*)\} 1$/m.exec(metrics)?.[1] ?? '';
    const label = (of: string): string => new RegExp(`${of}="([^"]*)"`).exec(build)?.[1] ?? '?';
    const [app, version, commit] = [label('app'), label('version'), label('commit')];
    const says = `${app} ${version}, Node.js ${label('node')}, ${parts.join(', ')}`;
    if (!ready.ok) {
      const usual = 'Mend what is not up; the log of the process says more';
      return fault(
        `not ready: ${says}`,
        restoredDatabase.isSaidIn(says) ? restoredDatabase.remedy : usual,
      );
    }
    const isSame = version === buildInfo.version && commit === buildInfo.commit;
    return isSame
      ? ok(`ready: ${says}`)
      : warning(
          `ready, but of another build (${commit}) than this doctor (${buildInfo.commit}): ${says}`,
          'Wait for the end of the upgrade, or restart the process with the release that is installed',
        );
  },
});
