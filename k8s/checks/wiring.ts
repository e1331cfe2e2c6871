import {
  environmentOf,
  matches,
  nameOf,
  ofKind,
  workloadsOf,
  type Manifest,
  type Workload,
} from './manifest';
import type { Check } from './pods';

const selectedBy = (manifests: readonly Manifest[], labels: Readonly<Record<string, string>>) =>
  workloadsOf(manifests).filter((workload) => matches({ matchLabels: labels }, workload.labels));

const portsOf = ({ containers }: Workload): readonly (string | number)[] =>
  containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, containerPort }) =>
      name === undefined ? [containerPort] : [name, containerPort],
    ),
  );

/** Each selector finds pods: of a Deployment its own, and of all else some. */
export const selectors: Check = (manifests) => {
  const workloads = workloadsOf(manifests);
  const own = manifests.flatMap((manifest) => {
    if (manifest.kind !== 'Deployment' && manifest.kind !== 'StatefulSet') return [];
    const { labels = {} } = manifest.spec?.template.metadata ?? {};
    return matches(manifest.spec?.selector ?? {}, labels)
      ? []
      : [`${nameOf(manifest)} does not select its own pods`];
  });
  const others = manifests.flatMap((manifest) => {
    const selector =
      manifest.kind === 'Service'
        ? { matchLabels: manifest.spec?.selector ?? {} }
        : manifest.kind === 'PodDisruptionBudget' || manifest.kind === 'PodMonitor'
          ? (manifest.spec?.selector ?? {})
          : undefined;
    return selector === undefined || workloads.some(({ labels }) => matches(selector, labels))
      ? []
      : [`${manifest.kind} ${nameOf(manifest)} selects no pod`];
  });
  const scaled = manifests.flatMap((manifest) => {
    const target =
      manifest.kind === 'HorizontalPodAutoscaler' || manifest.kind === 'ScaledObject'
        ? manifest.spec?.scaleTargetRef.name
        : undefined;
    return target === undefined ||
      workloads.some(({ kind, name }) => kind === 'Deployment' && name === target)
      ? []
      : [`${manifest.kind} ${nameOf(manifest)} scales ${target}, which is not there`];
  });
  return [...own, ...others, ...scaled, ...policySelectors(manifests)];
};

/** Each name that a policy lists is that of a pod. */
function policySelectors(manifests: readonly Manifest[]): readonly string[] {
  const labels = workloadsOf(manifests).map((workload) => workload.labels);
  return ofKind(manifests, 'NetworkPolicy').flatMap((policy) => {
    const { podSelector = {}, ingress = [], egress = [] } = policy.spec ?? {};
    const peers = [
      ...ingress.flatMap((rule) => rule.from ?? []),
      ...egress.flatMap((rule) => rule.to ?? []),
    ];
    const inside = peers.flatMap((peer) =>
      peer.namespaceSelector || !peer.podSelector ? [] : [peer.podSelector],
    );
    const wanted = [podSelector, ...inside].flatMap(
      ({ matchLabels = {}, matchExpressions = [] }) => [
        ...Object.entries(matchLabels),
        ...matchExpressions.flatMap(({ key, values = [] }) =>
          values.map((value) => [key, value] as const),
        ),
      ],
    );
    return wanted
      .filter(([key, value]) => !labels.some((each) => each[key] === value))
      .map(([key, value]) => `NetworkPolicy ${nameOf(policy)}: no pod has ${key}=${value}`);
  });
}

/** Each port that something names is one of a container behind it. */
export const ports: Check = (manifests) => {
  const services = ofKind(manifests, 'Service');
  const ofServices = services.flatMap((service) =>
    (service.spec?.ports ?? []).flatMap(({ port, targetPort = port }) =>
      selectedBy(manifests, service.spec?.selector ?? {}).some((workload) =>
        portsOf(workload).includes(targetPort),
      )
        ? []
        : [`Service ${nameOf(service)}: its pods have no port ${targetPort}`],
    ),
  );
  const backends = [
    ...ofKind(manifests, 'HTTPRoute').flatMap(({ spec }) =>
      (spec.rules ?? [])
        .flatMap((rule) => rule.backendRefs ?? [])
        .map(({ name, port }) => ({ name, port })),
    ),
    ...ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
      (spec?.rules ?? [])
        .flatMap((rule) => rule.http?.paths ?? [])
        .map(({ backend: { service } }) => ({
          name: service?.name,
          port: service?.port?.name ?? service?.port?.number,
        })),
    ),
    ...urlsOf(manifests),
  ].filter(({ name, port }) => {
    const service = services.find((each) => nameOf(each) === name);
    return !(service?.spec?.ports ?? []).some((each) => each.port === port || each.name === port);
  });
  const monitored = ofKind(manifests, 'PodMonitor').flatMap(({ spec }) =>
    workloadsOf(manifests)
      .filter(({ labels }) => matches(spec.selector, labels))
      .flatMap((workload) =>
        (spec.podMetricsEndpoints ?? [])
          .filter(({ port }) => !portsOf(workload).includes(port ?? ''))
          .map(({ port }) => `PodMonitor: ${workload.name} has no port ${port}`),
      ),
  );
  return [
    ...ofServices,
    ...backends.map(({ name, port }) => `there is no Service ${name} with the port ${port}`),
    ...monitored,
    ...listened(manifests),
    ...policyPorts(manifests),
  ];
};

/** Where apps look for the others. */
function urlsOf(manifests: readonly Manifest[]): readonly { name: string; port: number }[] {
  return workloadsOf(manifests)
    .flatMap(({ containers }) => containers.map((container) => environmentOf(container, manifests)))
    .flatMap(({ MANAGEMENT_URL, GATEWAY_URL, RUNNER_URLS }) => [
      MANAGEMENT_URL,
      GATEWAY_URL,
      RUNNER_URLS,
    ])
    .filter((url) => url !== undefined)
    .map((url) => ({ name: new URL(url).hostname, port: Number(new URL(url).port) }));
}

/** The ports that an app is told to listen on are those that its container names. */
function listened(manifests: readonly Manifest[]): readonly string[] {
  return workloadsOf(manifests).flatMap((workload) =>
    workload.containers.flatMap((container) => {
      const { PORT, OPS_PORT, RUNNER_LISTEN } = environmentOf(container, manifests);
      const told = [PORT, OPS_PORT, RUNNER_LISTEN?.split(':').at(-1)].filter(
        (port) => port !== undefined,
      );
      return told
        .filter((port) => !portsOf(workload).includes(Number(port)))
        .map((port) => `${workload.name} listens on ${port}, which its container does not name`);
    }),
  );
}

function policyPorts(manifests: readonly Manifest[]): readonly string[] {
  const workloads = workloadsOf(manifests);
  return ofKind(manifests, 'NetworkPolicy').flatMap((policy) => {
    const { podSelector = {}, ingress = [], egress = [] } = policy.spec ?? {};
    const inward = ingress.map((rule) => ({ selectors: [podSelector], ports: rule.ports ?? [] }));
    const outward = egress.map((rule) => ({
      selectors: (rule.to ?? []).flatMap((peer) =>
        peer.namespaceSelector || !peer.podSelector ? [] : [peer.podSelector],
      ),
      ports: rule.ports ?? [],
    }));
    return [...inward, ...outward].flatMap((rule) => {
      const targets = workloads.filter(({ labels }) =>
        rule.selectors.some((selector) => matches(selector, labels)),
      );
      return rule.ports
        .filter(
          ({ port }) =>
            targets.length > 0 && !targets.some((target) => portsOf(target).includes(port ?? '')),
        )
        .map(({ port }) => `NetworkPolicy ${nameOf(policy)}: no pod there has the port ${port}`);
    });
  });
}
