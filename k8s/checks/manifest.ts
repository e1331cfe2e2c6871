import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import type { IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import type { IPodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { ICronJob } from 'kubernetes-models/batch/v1/CronJob';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { ILimitRange } from 'kubernetes-models/v1/LimitRange';
import type { INamespace } from 'kubernetes-models/v1/Namespace';
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IResourceQuota } from 'kubernetes-models/v1/ResourceQuota';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';

/** Every kind that k8s/ has. `typeFaults` looks whether what was rendered is of these types. */
export type Manifest =
  | IConfigMap
  | ICronJob
  | IDeployment
  | IHTTPRoute
  | IHorizontalPodAutoscaler
  | IIngress
  | IJob
  | ILimitRange
  | INamespace
  | INetworkPolicy
  | IPod
  | IPodDisruptionBudget
  | IPodMonitor
  | IResourceQuota
  | IScaledObject
  | ISecret
  | IService
  | IServiceAccount
  | IStatefulSet;

type Kind = Manifest['kind'];
type Labels = Readonly<Record<string, string>>;

export function ofKind<K extends Kind>(
  manifests: readonly Manifest[],
  kind: K,
): readonly Extract<Manifest, { kind: K }>[] {
  return manifests.filter((manifest) => manifest.kind === kind) as Extract<Manifest, { kind: K }>[];
}

export const nameOf = ({ metadata }: Pick<Manifest, 'metadata'>): string => metadata?.name ?? '';

const workloadKinds = ['CronJob', 'Deployment', 'Job', 'Pod', 'StatefulSet'] as const;

/** What makes pods. */
export interface Workload {
  readonly kind: (typeof workloadKinds)[number];
  readonly name: string;
  readonly labels: Labels;
  readonly pod: IPodSpec;
  /** Those of the start among them. */
  readonly containers: readonly IContainer[];
}

type WorkloadManifest = Extract<Manifest, { kind: Workload['kind'] }>;

const isWorkload = (manifest: Manifest): manifest is WorkloadManifest =>
  workloadKinds.some((kind) => kind === manifest.kind);

function podOf(manifest: WorkloadManifest): Pick<IPod, 'metadata' | 'spec'> | undefined {
  if (manifest.kind === 'Pod') return manifest;
  if (manifest.kind === 'CronJob') return manifest.spec?.jobTemplate.spec?.template;
  return manifest.spec?.template;
}

export function workloadsOf(manifests: readonly Manifest[]): readonly Workload[] {
  return manifests.flatMap((manifest) => {
    if (!isWorkload(manifest)) return [];
    const { kind } = manifest;
    const template = podOf(manifest);
    const pod = template?.spec;
    if (!pod) throw new Error(`${kind} ${nameOf(manifest)} has no pod`);
    return [
      {
        kind,
        name: nameOf(manifest),
        labels: template.metadata?.labels ?? {},
        pod,
        containers: [...(pod.initContainers ?? []), ...pod.containers],
      },
    ];
  });
}

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export function matches(selector: Selector, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`the checks do not know the operator ${operator}`);
      return values.includes(labels[key] ?? '');
    })
  );
}

/** The variables that a container gets: its own win. */
export function environmentOf(
  container: IContainer,
  manifests: readonly Manifest[],
): Readonly<Record<string, string>> {
  const own = Object.fromEntries(
    (container.env ?? []).map(({ name, value }) => [name, value ?? '']),
  );
  return { ...sharedBy(container, manifests), ...own };
}

/** The part of them that comes from ConfigMaps. */
export function sharedBy(
  container: IContainer,
  manifests: readonly Manifest[],
): Readonly<Record<string, string>> {
  const maps = (container.envFrom ?? []).map(({ configMapRef }) => {
    const map = ofKind(manifests, 'ConfigMap').find((each) => nameOf(each) === configMapRef?.name);
    if (!map) throw new Error(`there is no ConfigMap ${configMapRef?.name}`);
    return map.data ?? {};
  });
  return Object.assign({}, ...maps) as Record<string, string>;
}

const factors: Readonly<Record<string, number>> = {
  '': 1,
  m: 1 / 1000,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/** `1Gi` and the like in bytes, `100m` and the like in processors. */
export function quantityOf(text: string | number | undefined): number {
  const [, number = '', unit = ''] = /^([\d.]+)(\w*)$/.exec(String(text)) ?? [];
  const factor = factors[unit];
  if (number === '' || factor === undefined) throw new Error(`"${text}" is no quantity`);
  return Number(number) * factor;
}
