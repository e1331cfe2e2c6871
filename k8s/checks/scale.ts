import { connectionFaults, poolOf } from '../../tools/lib/connections.mjs';
import { defaultConnections } from '../../tools/lib/default-connections.mjs';
import {
  environmentOf,
  nameOf,
  ofKind,
  quantityOf,
  workloadsOf,
  type Manifest,
  type Workload,
} from './manifest';
import type { Check } from './pods';

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** The replicas of an app. Without an autoscaler it has one. */
export function replicasOf(manifests: readonly Manifest[], app: string): Bounds {
  const autoscaler = ofKind(manifests, 'HorizontalPodAutoscaler').find(
    ({ spec }) => spec?.scaleTargetRef.name === app,
  )?.spec;
  const scaled = ofKind(manifests, 'ScaledObject').find(
    ({ spec }) => spec.scaleTargetRef.name === app,
  )?.spec;
  return {
    least: autoscaler?.minReplicas ?? scaled?.minReplicaCount ?? 1,
    most: autoscaler?.maxReplicas ?? scaled?.maxReplicaCount ?? 1,
  };
}

/** An app outlives the end of a pod, of a node and of a zone. */
export const outlives: Check = (manifests) =>
  workloadsOf(manifests)
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ name, pod }) => {
      const { least } = replicasOf(manifests, name);
      const spread = (pod.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
      const budgets = ofKind(manifests, 'PodDisruptionBudget').map(nameOf);
      const scalers = [
        ...ofKind(manifests, 'HorizontalPodAutoscaler'),
        ...ofKind(manifests, 'ScaledObject'),
      ].filter((each) => nameOf(each) === name);
      return [
        least < 2 && `${name} may have one pod alone`,
        scalers.length !== 1 && `${name} has ${scalers.length} autoscalers`,
        !budgets.includes(name) && `${name} has no PodDisruptionBudget`,
        ...['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map(
          (key) => !spread.includes(key) && `${name} is not spread by ${key}`,
        ),
      ].filter((fault) => fault !== false);
    });

/** Every app has its connections to Postgres, while each of them is being rolled out. */
export const connections: Check = (manifests) => {
  const named = ofKind(manifests, 'ConfigMap').find((map) => /^connections\b/.test(nameOf(map)));
  const connectionsMax = Number(named?.data?.['POSTGRES_CONNECTIONS_MAX']);
  const apps = Object.entries(defaultConnections).map(([name, defaults]) => {
    const [app] = workloadsOf(manifests).filter((each) => each.name === name);
    const [container] = app?.containers ?? [];
    if (!container) throw new Error(`there is no ${name}`);
    const set = environmentOf(container, manifests);
    const settings = Object.fromEntries(
      Object.entries(defaults).map(([setting, usual]) => [setting, Number(set[setting] ?? usual)]),
    ) as Parameters<typeof poolOf>[0];
    const { least, most } = replicasOf(manifests, name);
    return [name, { pool: poolOf(settings), min: least, max: most, surge: 1 }];
  });
  return connectionFaults(Object.fromEntries(apps), connectionsMax);
};

/** The quota leaves room for every app at its most, a pod more of each, and every Job at once. */
export const quota: Check = (manifests) => {
  const [hard] = ofKind(manifests, 'ResourceQuota').map(({ spec }) => spec?.hard ?? {});
  if (!hard) return ['there is no quota'];
  const sum = (kind: 'requests' | 'limits', resource: 'cpu' | 'memory'): number =>
    workloadsOf(manifests).reduce(
      (total, workload) =>
        total + podsOf(manifests, workload) * sumOfContainers(workload, kind, resource),
      0,
    );
  const needs = {
    pods: workloadsOf(manifests).reduce((total, each) => total + podsOf(manifests, each), 0),
    'requests.cpu': sum('requests', 'cpu'),
    'requests.memory': sum('requests', 'memory'),
    'limits.memory': sum('limits', 'memory'),
  };
  return Object.entries(needs)
    .filter(([name, needed]) => quantityOf(hard[name]) < needed)
    .map(([name, needed]) => `the quota of ${name} is less than ${needed}`);
};

const podsOf = (manifests: readonly Manifest[], { kind, name }: Workload): number =>
  kind === 'Deployment' ? replicasOf(manifests, name).most + 1 : 1;

const sumOfContainers = (
  { containers }: Workload,
  kind: 'requests' | 'limits',
  resource: 'cpu' | 'memory',
): number =>
  containers.reduce(
    (total, { resources }) => total + quantityOf(resources?.[kind]?.[resource] ?? 0),
    0,
  );
