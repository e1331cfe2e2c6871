import type { IContainer } from 'kubernetes-models/v1/Container';
import {
  environmentOf,
  nameOf,
  ofKind,
  workloadsOf,
  type Manifest,
  type Workload,
} from './manifest';

/** Each check lists what is wrong. */
export type Check = (manifests: readonly Manifest[]) => readonly string[];

/** For each container of each workload: the faults that `find` names, with their place. */
const ofContainers =
  (find: (container: IContainer, workload: Workload) => readonly (string | false)[]): Check =>
  (manifests) =>
    workloadsOf(manifests).flatMap((workload) =>
      workload.containers.flatMap((container) =>
        find(container, workload)
          .filter((fault) => fault !== false)
          .map((fault) => `${workload.kind} ${workload.name}, ${container.name}: ${fault}`),
      ),
    );

/** What Pod Security calls restricted, a read-only root, and no token of the cluster. */
export const unprivileged: Check = ofContainers(({ securityContext }, { pod }) => {
  const { runAsNonRoot, runAsUser, seccompProfile } = {
    ...pod.securityContext,
    ...securityContext,
  };
  return [
    runAsNonRoot !== true && 'may run as root',
    !(Number(runAsUser) > 0) && 'has no user of its own',
    !['RuntimeDefault', 'Localhost'].includes(seccompProfile?.type ?? '') &&
      'has no seccomp profile',
    securityContext?.allowPrivilegeEscalation !== false && 'may gain privileges',
    securityContext?.readOnlyRootFilesystem !== true && 'may write to its root',
    securityContext?.capabilities?.drop?.join() !== 'ALL' && 'has capabilities',
    (securityContext?.capabilities?.add?.length ?? 0) > 0 && 'adds capabilities',
    pod.automountServiceAccountToken !== false && 'has a token of the cluster',
    pod.enableServiceLinks !== false && 'has variables that look like settings',
    Boolean(pod.hostNetwork ?? pod.hostPID ?? pod.hostIPC) && 'shares namespaces of its node',
    (pod.volumes ?? []).some(({ hostPath }) => hostPath) && 'sees files of its node',
  ];
});

/** A digest, or a version to its last number. */
export const exactImages: Check = ofContainers(({ image = '' }) => [
  !/(@sha256:[0-9a-f]{64}|:\d+\.\d+(\.\d+)?(-[\w.]+)?)$/.test(image) &&
    `${image} may change under its tag`,
]);

export const resources: Check = ofContainers(({ resources }) => [
  resources?.requests?.['cpu'] === undefined && 'requests no processor',
  resources?.requests?.['memory'] === undefined && 'requests no memory',
  resources?.limits?.['memory'] === undefined && 'has no limit of memory',
]);

/** Of what runs until it is told to end. */
export const probes: Check = ofContainers((container, { kind, pod }) => {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  if (kind === 'Job' || kind === 'CronJob' || !pod.containers.includes(container)) return [];
  const ports = (container.ports ?? []).flatMap(({ name, containerPort }) => [name, containerPort]);
  const asked = [startupProbe, livenessProbe, readinessProbe].flatMap((probe) => {
    const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
    return port === undefined ? [] : [port];
  });
  return [
    !startupProbe && 'has no startup probe',
    !livenessProbe && 'has no liveness probe',
    !readinessProbe && 'has no readiness probe',
    ...asked.map((port) => !ports.includes(port) && `has no port ${port}, which a probe asks`),
  ];
});

/** Every mount has its volume, and every volume its Secret where the overlay makes them. */
export const volumes: Check = (manifests) => {
  const secrets = ofKind(manifests, 'Secret').map(nameOf);
  const mounts = ofContainers(({ volumeMounts = [] }, { pod }) =>
    volumeMounts.map(({ name }) => {
      const known = (pod.volumes ?? []).map((volume) => volume.name);
      const claimed = ofKind(manifests, 'StatefulSet')
        .flatMap(({ spec }) => spec?.volumeClaimTemplates ?? [])
        .map(({ metadata }) => metadata?.name);
      return !known.includes(name) && !claimed.includes(name) && `there is no volume ${name}`;
    }),
  );
  const missing = workloadsOf(manifests).flatMap(({ name, pod }) =>
    (pod.volumes ?? []).flatMap(({ secret }) =>
      secret && secrets.length > 0 && !secrets.includes(secret.secretName ?? '')
        ? [`${name}: there is no Secret ${secret.secretName}`]
        : [],
    ),
  );
  return [...mounts(manifests), ...missing];
};

/** A pod that is told to end may go on for STOP_DELAY_MS, 215 s for calls and 5 s to close. */
export const timeToEnd: Check = (manifests) =>
  workloadsOf(manifests).flatMap(({ kind, name, pod }) => {
    const [app] = pod.containers;
    if (kind !== 'Deployment' || !app) return [];
    const { STOP_DELAY_MS = '0' } = environmentOf(app, manifests);
    const least = Number(STOP_DELAY_MS) / 1000 + 220;
    return (pod.terminationGracePeriodSeconds ?? 30) < least
      ? [`${name} has less than ${least} s to end`]
      : [];
  });
