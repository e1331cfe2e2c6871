import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf, matches, nameOf, ofKind, workloadsOf, type Manifest } from './manifest';
import type { Check } from './pods';

/** The ranges that are not public, as egress knows them; of IPv6 those inside of what IANA assigns. */
const special = [
  ...readFileSync(join(__dirname, '../../libs/egress/src/address-table.ts'), 'utf8').matchAll(
    /^ {2}'([\d.]+\/\d+|[23][\da-f]{3}:\S*\/\d+)',/gm,
  ),
].map(([, range = '']) => range);

const publicPolicies = (manifests: readonly Manifest[]) =>
  ofKind(manifests, 'NetworkPolicy').filter(
    ({ metadata }) => metadata?.labels?.['glovebox/reaches'] === 'public-addresses',
  );

const exceptionsOf = (policy: ReturnType<typeof publicPolicies>[number]): readonly string[] =>
  (policy.spec?.egress ?? [])
    .flatMap((rule) => rule.to ?? [])
    .flatMap(({ ipBlock }) => ipBlock?.except ?? []);

function ownServicesOf(manifests: readonly Manifest[]): readonly string[] {
  const settings = ofKind(manifests, 'ConfigMap').find((each) => /^settings\b/.test(nameOf(each)));
  return settings?.data?.['EGRESS_OWN_SERVICES']?.split(',') ?? [];
}

/** Policies let out to public addresses alone, and to none that the cluster has itself. */
export const publicAddresses: Check = (manifests) => {
  const policies = publicPolicies(manifests);
  const ranges = ownServicesOf(manifests)
    .filter((entry) => entry.endsWith(':*'))
    .map((entry) => entry.slice(0, -2));
  const faults = policies.flatMap((policy) => {
    const exceptions = exceptionsOf(policy);
    const wanted = [...special, ...ranges];
    return [
      ...wanted
        .filter((range) => !exceptions.includes(range))
        .map((range) => `NetworkPolicy ${nameOf(policy)} lets out to ${range}`),
      ...exceptions
        .filter((range) => !wanted.includes(range))
        .map((range) => `EGRESS_OWN_SERVICES does not name ${range}:*`),
    ];
  });
  const unreachable = ['gateway', 'worker', 'runner'].filter((name) => {
    const ways = waysOut(manifests, name);
    return !policies.some((policy) => ways.includes(nameOf(policy)));
  });
  return [...faults, ...unreachable.map((name) => `${name} needs a policy`)];
};

/** Hosts of the ways in to a Service. */
const hostsOf = (manifests: readonly Manifest[], isConsole: boolean): readonly string[] => [
  ...ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
    (spec?.rules ?? [])
      .filter(
        ({ http }) =>
          (http?.paths ?? []).some(({ backend }) => backend.service?.name === 'console') ===
          isConsole,
      )
      .map(({ host = 'any host' }) => host),
  ),
  ...ofKind(manifests, 'HTTPRoute').flatMap(({ spec }) =>
    isConsole ? [] : (spec.hostnames ?? []),
  ),
];

/** The console has a name that hands out nothing else, with TLS, and is let in from the way in alone. */
export const consoleApart: Check = (manifests) => {
  const hosts = hostsOf(manifests, true);
  const ofApi = new Set(hostsOf(manifests, false));
  const secured = ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
    (spec?.tls ?? []).flatMap((tls) => tls.hosts ?? []),
  );
  const urls = workloadsOf(manifests)
    .flatMap(({ containers }) => containers)
    .map((container) => environmentOf(container, manifests)['CONSOLE_URL']);
  const openTo = ofKind(manifests, 'NetworkPolicy')
    .flatMap(({ spec }) => spec?.ingress ?? [])
    .filter(({ ports = [] }) => ports.length === 0 || ports.some(({ port }) => port === 'console'))
    .flatMap(({ from = [{}] }) => from)
    .filter(({ namespaceSelector }) => !namespaceSelector?.matchLabels?.['glovebox/way-in']);
  return [
    ...hosts.filter((host) => ofApi.has(host)).map((host) => `${host} is a host of the API too`),
    ...hosts.filter((host) => !secured.includes(host)).map((host) => `${host} has no TLS`),
    ...hosts
      .filter((host) => !urls.includes(`https://${host}`))
      .map((host) => `CONSOLE_URL is not https://${host}`),
    ...openTo.map(() => 'more than the way in reaches the port of the console'),
  ];
};

/** Egress refuses every port of ours, by the names of Services and of pods. */
export const ownServices: Check = (manifests) => {
  const own = ownServicesOf(manifests);
  const ports = ofKind(manifests, 'Service').flatMap((service) => {
    const pods = workloadsOf(manifests).filter(({ labels }) =>
      matches({ matchLabels: service.spec?.selector ?? {} }, labels),
    );
    // The address of a headless Service is that of its pods, with all their ports.
    const wanted =
      service.spec?.clusterIP === 'None' && service.spec.publishNotReadyAddresses
        ? pods
            .flatMap(({ containers }) => containers.flatMap((container) => container.ports ?? []))
            .map(({ containerPort }) => containerPort)
        : (service.spec?.ports ?? []).map(({ port }) => port);
    return wanted.map((port) => `${nameOf(service)}:${port}`);
  });
  const byName = workloadsOf(manifests)
    .filter(({ kind }) => kind === 'Deployment')
    .filter(
      ({ name }) => !ofKind(manifests, 'Service').some((each) => nameOf(each) === `${name}-pods`),
    )
    .map(({ name }) => `the pods of ${name} have no name`);
  return [
    ...byName,
    ...ports
      .filter((place) => !own.includes(place))
      .map((place) => `EGRESS_OWN_SERVICES does not name ${place}`),
  ];
};

/** Names of tenants are looked up without the search domains of the cluster. */
export const resolvers: Check = (manifests) =>
  workloadsOf(manifests)
    .filter(({ kind, name }) => kind === 'Deployment' && name !== 'management-api')
    .filter(({ containers }) =>
      containers.some((container) => !environmentOf(container, manifests)['EGRESS_DNS']),
    )
    .map(({ name }) => `${name} has no EGRESS_DNS`);

/** The ways out of a workload: those of the policies that select it. */
export function waysOut(manifests: readonly Manifest[], name: string): readonly string[] {
  const workload = workloadsOf(manifests).find((each) => each.name === name);
  return ofKind(manifests, 'NetworkPolicy')
    .filter(({ spec }) => (spec?.egress ?? []).length > 0)
    .filter(({ spec }) => matches(spec?.podSelector ?? {}, workload?.labels ?? {}))
    .map(nameOf);
}
