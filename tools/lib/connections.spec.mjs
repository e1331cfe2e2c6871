import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  connectionFaults,
  connectionSum,
  ownConnections,
  poolOf,
  replicasWithin,
} from './connections.mjs';
import { defaultConnections, replicaWeights } from './default-connections.mjs';

const root = join(__dirname, '../..');
/** @param {string} file */
const read = (file) => readFileSync(join(root, file), 'utf8');
/**
 * @param {string} text
 * @param {RegExp} pattern
 */
const numberIn = (text, pattern) => Number(pattern.exec(text)?.[1]);

/**
 * The apps as k8s/base has them, with the pools that their manifests set or the settings have.
 *
 * @type {Record<string, import('./connections.mjs').AppConnections>}
 */
const base = Object.fromEntries(
  Object.entries(defaultConnections).map(([name, defaults]) => {
    const text = read(`k8s/base/${name}.yaml`);
    const set = [...text.matchAll(/name: (\w+_CONNECTIONS), value: '(\d+)'/g)];
    const settings = Object.fromEntries(set.map(([, of, value]) => [of, Number(value)]));
    return [
      name,
      {
        pool: poolOf({ ...defaults, ...settings }),
        min: numberIn(text, /minReplicas: (\d+)/),
        max: numberIn(text, /maxReplicas: (\d+)/),
        surge: numberIn(read('k8s/base/hardened-pod.yaml'), /maxSurge: (\d+)/),
      },
    ];
  }),
);
/**
 * The apps of the base with other maxima.
 *
 * @param {Readonly<Record<string, number>>} most
 */
const withMost = (most) =>
  Object.fromEntries(
    Object.entries(base).map(([name, app]) => [name, { ...app, max: most[name] ?? app.max }]),
  );
const baseMax = numberIn(read('k8s/base/kustomization.yaml'), /POSTGRES_CONNECTIONS_MAX=(\d+)/);

it('the pools that are summed are those of the code', () => {
  const sections = read('docs/configuration.md').split(/^## /m);
  for (const [app, settings] of Object.entries(defaultConnections)) {
    const section = sections.find((text) => text.startsWith(`${app}\n`)) ?? '';
    for (const [name, value] of Object.entries(settings)) {
      const documented = numberIn(section, new RegExp(`\`${name}\`\\s*\\| \`(\\d+)\``));
      expect([app, name, documented]).toEqual([app, name, value]);
    }
  }
  const own = ['libs/definitions/src/connect.ts', 'libs/stores/src/schema-watch.ts']
    .map((file) => numberIn(read(file), /Connections = (\d+);/))
    .reduce((sum, connections) => sum + connections);
  expect(own).toBe(ownConnections);
});

it('the manifests fit their number while every app is rolled out, and use it up', () => {
  expect(connectionFaults(base, baseMax)).toEqual([]);
  const replicas = Object.fromEntries(Object.entries(base).map(([name, { max }]) => [name, max]));
  expect(replicas).toEqual(replicasWithin(baseMax, base, replicaWeights));
});

it('the defaults fit a Postgres as it is installed, with two of each app and one more in a rollout', () => {
  const apps = Object.fromEntries(
    Object.entries(defaultConnections).map(([name, settings]) => [
      name,
      { pool: poolOf(settings), min: 2, max: 2, surge: 1 },
    ]),
  );
  expect(connectionSum(apps, 'min')).toBeLessThanOrEqual(100);
  expect(connectionFaults(apps, 100)).toEqual([]);
});

it('a sum above the number is a fault that says how it came about', () => {
  expect(connectionFaults(withMost({ gateway: 3 }), baseMax)).toEqual([
    expect.stringMatching(/108 connections at the maximum .* of 100: gateway \(3 \+ 1\) × 8/),
  ]);
  expect(connectionFaults(base, 99)).toHaveLength(2);
});

it('more connections give more replicas, and never more than fit', () => {
  for (const connectionsMax of [100, 137, 300, 1_000]) {
    const grown = withMost(replicasWithin(connectionsMax, base, replicaWeights));
    expect(connectionFaults(grown, connectionsMax)).toEqual([]);
    expect(connectionSum(grown, 'max')).toBeGreaterThan(connectionsMax - 11);
  }
});

it('the page has the sum of each app', () => {
  const page = read('docs/connections.md');
  for (const [name, { pool }] of Object.entries(base)) {
    expect(page).toMatch(new RegExp(`^\\| ${name} .*\\| ${pool} +\\| ${3 * pool} +\\|$`, 'm'));
  }
  expect(page).toContain(`**${connectionSum(base, 'min')}**`);
});

it.each([
  [[], 'Give max_connections, a number'],
  [['0'], 'Give max_connections, a number'],
  [['many'], 'Give max_connections, a number'],
  [['99'], '99 is too few for two replicas of each app'],
])('npm run k8s:connections -- %s says what is wrong', (args, message) => {
  const command = [join(root, 'tools/k8s-connections.mjs'), ...args];
  const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain(message);
});
