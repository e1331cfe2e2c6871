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
const read = (file) => readFileSync(join(root, file), 'utf8');
const numberIn = (text, pattern) => Number(pattern.exec(text)?.[1]);
const names = Object.keys(defaultConnections);

/** The apps as k8s/base has them. */
const base = Object.fromEntries(
  names.map((name) => {
    const text = read(`k8s/base/${name}.yaml`);
    const setting = (of, fallback) =>
      fallback && (numberIn(text, new RegExp(`name: ${of}, value: '(\\d+)'`)) || fallback);
    const { DATABASE_CONNECTIONS, SEARCH_CONNECTIONS } = defaultConnections[name];
    return [
      name,
      {
        pool: poolOf({
          DATABASE_CONNECTIONS: setting('DATABASE_CONNECTIONS', DATABASE_CONNECTIONS),
          SEARCH_CONNECTIONS: setting('SEARCH_CONNECTIONS', SEARCH_CONNECTIONS),
        }),
        min: numberIn(text, /minReplicas: (\d+)/),
        max: numberIn(text, /maxReplicas: (\d+)/),
        surge: numberIn(read('k8s/base/hardened-pod.yaml'), /maxSurge: (\d+)/),
      },
    ];
  }),
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
    .map((file) => numberIn(read(file), /connectionsMax: (\d+)/))
    .reduce((sum, connections) => sum + connections);
  expect(own).toBe(ownConnections);
});

it('the manifests fit their number while every app is rolled out, and use it up', () => {
  expect(connectionFaults(base, baseMax)).toEqual([]);
  const replicas = Object.fromEntries(names.map((name) => [name, base[name].max]));
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
  const larger = { ...base, gateway: { ...base.gateway, max: 3 } };
  expect(connectionFaults(larger, baseMax)).toEqual([
    expect.stringMatching(/110 connections at the maximum .* of 100: gateway \(3 \+ 1\) × 10/),
  ]);
  expect(connectionFaults(base, 99)).toHaveLength(2);
});

it('more connections give more replicas, and never more than fit', () => {
  for (const connectionsMax of [100, 137, 300, 1_000]) {
    const most = replicasWithin(connectionsMax, base, replicaWeights);
    const grown = Object.fromEntries(
      names.map((name) => [name, { ...base[name], max: most[name] }]),
    );
    expect(connectionFaults(grown, connectionsMax)).toEqual([]);
    expect(connectionSum(grown, 'max')).toBeGreaterThan(connectionsMax - 11);
  }
});

it('the page has the sum of each app', () => {
  const page = read('docs/connections.md');
  for (const name of names) {
    const { pool } = base[name];
    expect(page).toMatch(new RegExp(`^\\| ${name} .*\\| ${pool} +\\| ${3 * pool} +\\|$`, 'm'));
  }
  expect(page).toContain(`**${connectionSum(base, 'min')}**`);
});
