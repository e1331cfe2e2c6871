import { basename } from 'node:path';
import { ConfigError } from '@glovebox/service-host';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { loadGatewayConfig } from '../../apps/gateway/src/config';
import {
  loadManagementConfig,
  loadMigrationConfig,
  loadRestoreConfig,
  loadRolesConfig,
  loadRotationConfig,
} from '../../apps/management-api/src/config';
import { readConfig } from '../../apps/runner/src/config';
import { loadWorkerConfig } from '../../apps/worker/src/config';
import { environmentOf, quantityOf, sharedBy, workloadsOf, type Manifest } from './manifest';
import type { Check } from './pods';

type Environment = Readonly<Record<string, string | undefined>>;
type Load = (env: Environment) => unknown;

const loadRunnerConfig = (env: Environment) => readConfig(env, '/app/dist/apps/runner');

/** How each program reads its environment: those that images start, and those that commands name. */
const loaders: Readonly<Record<string, Load>> = {
  'glovebox-gateway': loadGatewayConfig,
  'glovebox-management-api': loadManagementConfig,
  'glovebox-worker': loadWorkerConfig,
  'glovebox-runner': loadRunnerConfig,
  'migrate.main.js': loadMigrationConfig,
  'roles.main.js': loadRolesConfig,
  'keys-rotate.main.js': loadRotationConfig,
  'after-restore.main.js': loadRestoreConfig,
};

function loaderOf({ image = '', command }: IContainer): Load | undefined {
  const [, main] = command ?? [];
  const [name = ''] = basename(image).split(/[:@]/);
  return loaders[main ? basename(main) : name];
}

/** What a Secret holds, in a form that its reader takes. */
const secrets: Readonly<Record<string, string>> = {
  RUNNER_SECRET: 'a'.repeat(64),
  KEY_RING: `1:${Buffer.alloc(32).toString('base64')}`,
};

/** The names that a loader asks for, and what it says about these values. */
function read(
  load: Load,
  values: Environment,
): { known: ReadonlySet<string>; faults: readonly string[] } {
  const known = new Set<string>();
  const text = Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const plain = name.replace(/_FILE$/, '');
      return plain === name ? [name, value] : [plain, secrets[plain] ?? 'secret'];
    }),
  );
  const env = new Proxy(text, {
    get(target, name: string) {
      known.add(name);
      return target[name];
    },
  });
  try {
    load(env);
    return { known, faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { known, faults: error.faults };
  }
}

/** Each variable is one that the app reads; each that it needs is there; each value is allowed. */
export const settings: Check = (manifests) => {
  const faults = ourContainers(manifests).flatMap(({ name, container, load }) => {
    const found = read(load, environmentOf(container, manifests));
    const own = (container.env ?? []).map((variable) => variable.name);
    const unknown = own.filter((variable) => !found.known.has(variable));
    return [
      ...unknown.map((variable) => `${name} does not know ${variable}`),
      ...found.faults.map((fault) => `${name}: ${fault}`),
    ];
  });
  return [...faults, ...unreadShared(manifests)];
};

/** A setting for all is read by one at least. */
function unreadShared(manifests: readonly Manifest[]): readonly string[] {
  const sharing = ourContainers(manifests).filter(({ container }) => container.envFrom);
  const known = new Set(sharing.flatMap(({ load }) => [...read(load, {}).known]));
  const shared = sharing.flatMap(({ container }) => Object.keys(sharedBy(container, manifests)));
  return [...new Set(shared)]
    .filter((name) => !known.has(name))
    .map((name) => `nobody knows ${name} of the ConfigMap settings`);
}

function ourContainers(
  manifests: readonly Manifest[],
): readonly { readonly name: string; readonly container: IContainer; readonly load: Load }[] {
  return workloadsOf(manifests).flatMap(({ name, containers }) =>
    containers.flatMap((container) => {
      if (!container.image?.includes('glovebox')) return [];
      const load = loaderOf(container);
      if (!load) throw new Error(`the checks do not know how ${name} reads its settings`);
      return [{ name, container, load }];
    }),
  );
}

/** The memory of a runner holds its sandboxes and itself. */
export const memoryOfRunners: Check = (manifests) =>
  ourContainers(manifests)
    .filter(({ load }) => load === loadRunnerConfig)
    .flatMap(({ name, container }) => {
      const env = environmentOf(container, manifests);
      const { memory } = loadRunnerConfig({
        ...env,
        RUNNER_SECRET: secrets['RUNNER_SECRET'],
      }).poolLimits;
      const limit = quantityOf(container.resources?.limits?.['memory']) / 1024 ** 2;
      const needed = memory.capMb + memory.runnerMb;
      return needed > limit ? [`${name} needs ${needed} MB and may have ${limit}`] : [];
    });
