import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { matches, nameOf, ofKind, workloadsOf, type Manifest } from './manifest';
import { consoleApart, ownServices, publicAddresses, resolvers, waysOut } from './network';
import {
  exactImages,
  probes,
  resources,
  timeToEnd,
  unprivileged,
  volumes,
  type Check,
} from './pods';
import { compositions, k8s, manifestsIn, renderAll, titleOf } from './render';
import { connections, outlives, quota, replicasOf } from './scale';
import { memoryOfRunners, settings } from './settings';
import { typeFaults } from './types';
import { ports, selectors } from './wiring';

let rendered: ReadonlyMap<string, readonly Manifest[]>;
beforeAll(async () => {
  rendered = await renderAll();
});

const all = compositions.map(titleOf);
const production = all.filter((title) => title !== 'local');
const manifestsOf = (title: string): readonly Manifest[] => {
  const manifests = rendered.get(title);
  if (!manifests) throw new Error(`${title} was not rendered`);
  return manifests;
};

it('every member of every manifest is known, and has a value of its type', () => {
  const distinct = new Map(
    all.flatMap(manifestsOf).map((manifest) => [JSON.stringify(manifest), manifest] as const),
  );
  expect(typeFaults([...distinct.values()])).toEqual([]);
});

const everywhere: Readonly<Record<string, Check>> = {
  'pods have no right that they do not need': unprivileged,
  'images do not change under their tag': exactImages,
  'containers say what they need': resources,
  'what runs is probed': probes,
  'what is mounted is there': volumes,
  'pods have the time that they need to end': timeToEnd,
  'apps know their settings, and have those that they need': settings,
  'runners have the memory of their sandboxes': memoryOfRunners,
  'selectors find pods': selectors,
  'ports are there': ports,
  'policies let out to public addresses alone': publicAddresses,
  'egress knows every port of ours': ownServices,
  'names of tenants have their resolvers': resolvers,
  'the console has an origin of its own': consoleApart,
};
const inProduction: Readonly<Record<string, Check>> = {
  'apps outlive a pod, a node and a zone': outlives,
  'the quota has room for every app at its most': quota,
  'Postgres has a connection for every app at its most': connections,
};

describe.each(all)('in %s', (title) => {
  it.each(Object.entries(everywhere))('%s', (_, check) => {
    expect(check(manifestsOf(title))).toEqual([]);
  });
});
describe.each(production)('in %s', (title) => {
  it.each(Object.entries(inProduction))('%s', (_, check) => {
    expect(check(manifestsOf(title))).toEqual([]);
  });
});

/** One fault for each check, and the words that tell of it. */
const planted: readonly [fault: string, check: Check, from: RegExp, to: string, told: RegExp][] = [
  ['root', unprivileged, /"runAsNonRoot":true/, '"runAsNonRoot":false', /may run as root/],
  [
    'a tag that moves',
    exactImages,
    /glovebox-worker:[\d.]+/,
    'glovebox-worker:latest',
    /may change/,
  ],
  ['no limit', resources, /"limits":\{"memory":"1Gi"\}/, '"limits":{}', /no limit of memory/],
  ['no probe', probes, /"livenessProbe":/, '"lifecycleProbe":', /no liveness probe/],
  ['a port that no probe finds', probes, /"port":"ops"/, '"port":"opps"', /has no port opps/],
  [
    'a mount of nothing',
    volumes,
    /"name":"secrets","readOnly"/,
    '"name":"x","readOnly"',
    /no volume x/,
  ],
  [
    'too little time',
    timeToEnd,
    /"terminationGracePeriodSeconds":230/,
    '"terminationGracePeriodSeconds":30',
    /less than/,
  ],
  [
    'a misspelt setting',
    settings,
    /"MANAGEMENT_URL"/,
    '"MANAGMENT_URL"',
    /does not know MANAGMENT_URL/,
  ],
  ['a missing setting', settings, /"RUNNER_URLS"/, '"HOST"', /RUNNER_URLS is not set/],
  ['a wrong value', settings, /"value":"8080"/, '"value":"eighty"', /PORT must be/],
  ['a shared setting of nobody', settings, /"LOG_LEVEL":/, '"LOG_LEVL":', /nobody knows LOG_LEVL/],
  ['too many sandboxes', memoryOfRunners, /"value":"4600"/, '"value":"5600"', /needs \d+ MB/],
  [
    'a selector of nothing',
    selectors,
    /"selector":\{"app.kubernetes.io\/name":"gateway"\}/,
    '"selector":{"app":"x"}',
    /selects no pod/,
  ],
  [
    'a policy for nobody',
    selectors,
    /"values":\["gateway","worker"\]/,
    '"values":["gateway","x"]',
    /no pod has/,
  ],
  ['a port that no pod has', ports, /"targetPort":"http"/, '"targetPort":"web"', /no port web/],
  ['a backend that is not there', ports, /"port":8080\}\]/, '"port":80}]', /no Service gateway/],
  [
    'a policy for no port',
    ports,
    /"port":"runner","protocol"/,
    '"port":"run","protocol"',
    /no pod there/,
  ],
  ['a way to private addresses', publicAddresses, /"10.0.0.0\/8",/, '', /lets out to 10.0.0.0\/8/],
  [
    'a range of the cluster that a policy lets out to',
    publicAddresses,
    /203.0.113.0\/24:\*/,
    '8.8.8.0/24:*',
    /lets out to 8.8.8.0\/24/,
  ],
  [
    'a range of the cluster that egress does not know',
    publicAddresses,
    /"10.0.0.0\/8",/,
    '"10.0.0.0/8","8.8.8.0/24",',
    /does not name 8.8.8.0\/24/,
  ],
  ['a port that egress does not know', ownServices, /gateway-pods:9080,/, '', /gateway-pods:9080/],
  ['no resolver', resolvers, /"EGRESS_DNS":"[\d.]+"/, '"EGRESS_DNS":""', /has no EGRESS_DNS/],
  ['a single pod', outlives, /"minReplicas":2/, '"minReplicas":1', /one pod alone/],
  [
    'a Postgres of fewer connections',
    connections,
    /"POSTGRES_CONNECTIONS_MAX":"\d+"/,
    '"POSTGRES_CONNECTIONS_MAX":"90"',
    /connections at the maximum of replicas, of 90/,
  ],
  ['a small quota', quota, /"requests.cpu":"\d+"/, '"requests.cpu":"4"', /requests.cpu/],
];

it.each(planted)('%s is found', (_, check, from, to, told) => {
  const text = JSON.stringify(manifestsOf('production'));
  const broken = text.replace(from, to);
  expect(broken).not.toBe(text);
  expect(check(JSON.parse(broken) as Manifest[]).join('\n')).toMatch(told);
});

it.each([
  [
    'a host of the API',
    consoleApart,
    '"host":"console.example.com"',
    '"host":"glovebox.example.com"',
    /host of the API/,
  ],
  ['a name without TLS', consoleApart, '"hosts":["console.', '"hosts":["other.', /has no TLS/],
  [
    'another CONSOLE_URL',
    consoleApart,
    '"https://console.',
    '"https://konsole.',
    /CONSOLE_URL is not/,
  ],
  [
    'a port that everybody reaches',
    consoleApart,
    '"namespaceSelector":{"matchLabels":{"glovebox/way-in":"true"}}}],"ports":[{"port":"console"',
    '"namespaceSelector":{}}],"ports":[{"port":"console"',
    /more than the way in/,
  ],
  ['a Service of no port', ports, '"targetPort":"console"', '"targetPort":"page"', /no port page/],
  ['a port that egress does not know', ownServices, 'console:8084', 'console:8085', /console:8084/],
  [
    'an issuer at a private address',
    publicAddresses,
    /("name":"issuer".{0,300}?)"10.0.0.0\/8",/,
    '$1',
    /issuer lets out to 10.0.0.0\/8/,
  ],
  ['a secret without its issuer', settings, '"OIDC_ISSUER"', '"OIDC_SCOPE"', /belong together/],
] as const)('%s of the console is found', (_, check, from, to, told) => {
  const text = JSON.stringify(manifestsOf('production with console'));
  const broken = text.replace(from, to);
  expect(broken).not.toBe(text);
  expect(check(JSON.parse(broken) as Manifest[]).join('\n')).toMatch(told);
});

it('members that are misspelt and values of a wrong type are found, in each kind', () => {
  const faults = [
    ['Deployment', '"containers":', '"containrs":', /containrs/],
    ['Deployment', '"periodSeconds":', '"periodSecond":', /periodSecond/],
    ['Deployment', '"maxSurge":1', '"maxSurge":true', /Type 'true' is not assignable/],
    ['HTTPRoute', '"backendRefs":', '"backendRef":', /backendRef/],
    ['PodMonitor', '"interval":', '"intervall":', /intervall/],
    ['ScaledObject', '"triggers":', '"trigger":', /trigger/],
  ] as const;
  const broken = faults.map(([kind, from, to]) => {
    const [first] = ofKind(manifestsOf('production with keda'), kind);
    return JSON.parse(JSON.stringify(first).replace(from, to)) as Manifest;
  });
  const told = typeFaults(broken);
  expect(told).toEqual(faults.map(([, , , words]) => expect.stringMatching(words)));
});

it('the management API reaches stores, DNS, gateways and an issuer alone, and commands not even gateways', () => {
  for (const title of all) {
    const ways = (name: string) => [...waysOut(manifestsOf(title), name)].sort();
    // A policy has the name of the app whose way out it is.
    const issuer = title.includes('console') ? ['issuer'] : [];
    const own = ['dns', ...issuer, 'management-api', 'postgres', 'redis'];
    expect(ways('management-api')).toEqual(own);
    for (const name of ['rotate-keys', 'after-restore']) {
      expect(ways(name)).toEqual(['dns', 'postgres', 'redis']);
    }
    for (const name of [migrationOf(title), 'roles'])
      expect(ways(name)).toEqual(['dns', 'postgres']);
    expect(ways('runner')).toEqual(['code', 'dns']);
  }
});

const { version } = JSON.parse(readFileSync(join(k8s, '../package.json'), 'utf8')) as {
  readonly version: string;
};
const migrationOf = (title: string): string =>
  nameOf(ofKind(manifestsOf(title), 'Job')[0] ?? { metadata: {} });

it.each(all)(
  'in %s the migration is a Job of its release, and nothing else starts by itself',
  (title) => {
    expect(ofKind(manifestsOf(title), 'Job').map(nameOf)).toEqual([`migrate-${version}`]);
    const onDemand = ofKind(manifestsOf(title), 'CronJob');
    expect(onDemand.map(nameOf).sort()).toEqual(['after-restore', 'roles', 'rotate-keys']);
    expect(onDemand.map(({ spec }) => spec?.suspend)).toEqual([true, true, true]);
  },
);

it.each(all)('in %s all images of ours are of the release', (title) => {
  const images = workloadsOf(manifestsOf(title))
    .flatMap(({ containers }) => containers.map(({ image = '' }) => image))
    .filter((image) => image.includes('glovebox'));
  expect(images.length).toBeGreaterThan(7);
  for (const image of images) {
    expect(image).toMatch(new RegExp(`(:${version.replaceAll('.', '\\.')}|@sha256:[0-9a-f]{64})$`));
  }
});

it('KEDA keeps the bounds of the autoscalers', () => {
  for (const app of ['gateway', 'worker', 'runner', 'management-api']) {
    expect(replicasOf(manifestsOf('production with keda'), app)).toEqual(
      replicasOf(manifestsOf('production'), app),
    );
  }
});

it('KEDA asks for metrics that an app has', () => {
  const queries = ofKind(manifestsOf('production with keda'), 'ScaledObject').flatMap(({ spec }) =>
    spec.triggers.flatMap(({ metadata: { query } }) => (query === undefined ? [] : [query])),
  );
  const code = readdirSync(join(k8s, '..'), { withFileTypes: true })
    .filter(({ name }) => name === 'apps' || name === 'libs')
    .flatMap(({ name }) =>
      readdirSync(join(k8s, '..', name), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\/src\/.*\.ts$/.test(file) && !file.includes('.spec.'))
        .map((file) => readFileSync(join(k8s, '..', name, file), 'utf8')),
    )
    .join('\n');
  const names = [...new Set(queries.flatMap((query) => query.match(/glovebox_\w+/g) ?? []))];
  expect(names.sort()).toEqual(['glovebox_share_places', 'glovebox_worker_queue_rows']);
  for (const name of names) expect(code).toContain(`name: '${name}'`);
});

describe('the pod of an agent', () => {
  const agents = manifestsIn(readFileSync(join(k8s, 'forward-pod/pod.yaml'), 'utf8'));

  it.each(Object.entries({ types: typeFaults, privileges: unprivileged, resources, volumes }))(
    'has no fault of %s',
    (_, check) => {
      expect(check(agents)).toEqual([]);
    },
  );

  it('has one way out, to the port that the component opens for its namespace, and asks no name server', () => {
    const policies = ofKind(agents, 'NetworkPolicy').map(({ spec }) => spec);
    for (const { podSelector } of policies.filter((spec) => spec !== undefined)) {
      expect(podSelector).toEqual({});
    }
    expect(policies.flatMap((spec) => spec?.policyTypes ?? []).sort()).toEqual([
      ...['Egress', 'Egress', 'Ingress'],
    ]);
    expect(policies.flatMap((spec) => spec?.ingress ?? [])).toEqual([]);
    const ways = policies.flatMap((spec) => spec?.egress ?? []);
    expect(ways.map(({ ports }) => ports)).toEqual([[{ protocol: 'TCP', port: 8085 }]]);
    const [peer] = ways.flatMap(({ to }) => to ?? []);
    const withForward = manifestsOf('production with forward');
    const [gateway] = workloadsOf(withForward).filter(({ name }) => name === 'gateway');
    expect(matches(peer?.podSelector ?? {}, gateway?.labels ?? {})).toBe(true);
    expect(peer?.namespaceSelector?.matchLabels).toEqual({
      'kubernetes.io/metadata.name': 'glovebox',
    });
    expect(gateway?.containers.flatMap(({ ports = [] }) => ports)).toContainEqual(
      expect.objectContaining({ name: 'forward', containerPort: 8085 }),
    );
    const [opened] = ofKind(withForward, 'NetworkPolicy').filter(
      (policy) => nameOf(policy) === 'forward',
    );
    const [from] = opened?.spec?.ingress?.flatMap((rule) => rule.from ?? []) ?? [];
    const [namespace] = ofKind(agents, 'Namespace');
    expect(matches(from?.namespaceSelector ?? {}, namespace?.metadata?.labels ?? {})).toBe(true);
    expect(workloadsOf(agents).map(({ pod }) => pod.dnsPolicy)).toEqual(['None']);
  });
});

describe('the way in', () => {
  it.each(production)('of %s lets runs and streams finish', (title) => {
    const routes = ofKind(manifestsOf(title), 'HTTPRoute').flatMap(({ spec }) => spec.rules ?? []);
    expect(routes.length + ofKind(manifestsOf(title), 'Ingress').length).toBeGreaterThan(0);
    for (const { timeouts } of routes) expect(timeouts?.request).toBe('0s');
  });

  it('leans on no annotation: the gateway itself has the limits', () => {
    const ways = all.flatMap((title) => [
      ...ofKind(manifestsOf(title), 'HTTPRoute'),
      ...ofKind(manifestsOf(title), 'Ingress'),
    ]);
    expect(ways.length).toBeGreaterThan(production.length);
    for (const { metadata } of ways) expect(metadata?.annotations).toBeUndefined();
  });

  it.each([
    ['production', ['gateway'], []],
    ['production with split-paths', ['gateway', 'management-api'], []],
    [
      'production with ingress, split-paths',
      ['gateway', 'management-api'],
      ['gateway', 'management-api'],
    ],
  ])('of %s has these backends', (title, byRoute, byIngress) => {
    const manifests = manifestsOf(title);
    const names = (list: readonly (string | undefined)[]) => [...new Set(list)];
    expect(
      names(
        ofKind(manifests, 'HTTPRoute')
          .flatMap(({ spec }) => spec.rules ?? [])
          .flatMap(({ backendRefs = [] }) => backendRefs.map(({ name }) => name)),
      ),
    ).toEqual(byRoute);
    expect(
      names(
        ofKind(manifests, 'Ingress')
          .flatMap(({ spec }) => spec?.rules ?? [])
          .flatMap(({ http }) => http?.paths ?? [])
          .map(({ backend }) => backend.service?.name),
      ),
    ).toEqual(byIngress);
  });
});

it('the README lists each Secret that production mounts, with its keys', () => {
  const [, readme = ''] = readFileSync(join(k8s, 'README.md'), 'utf8').split('| Secret ');
  const rows = new Map(
    [...(readme.split('\n\n')[0] ?? '').matchAll(/^\| `([\w-]+)` +\|(.*)\|$/gm)].map(
      ([, name = '', keys = '']) => [name, keys],
    ),
  );
  for (const { pod, containers } of workloadsOf(manifestsOf('production'))) {
    const [secret] = (pod.volumes ?? []).flatMap((volume) => volume.secret?.secretName ?? []);
    const keys = containers
      .flatMap(({ env = [] }) => env)
      .filter(({ name }) => name.endsWith('_FILE'))
      .map(({ value = '' }) => value.split('/').at(-1));
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys)
      expect([secret, rows.get(secret ?? '')]).toEqual([
        secret,
        expect.stringContaining(`\`${key}\``),
      ]);
  }
});
