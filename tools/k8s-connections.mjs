// npm run k8s:connections -- MAX
import { poolOf, connectionFaults, replicasWithin } from './lib/connections.mjs';
import { defaultConnections, replicaWeights } from './lib/default-connections.mjs';
import { script, Trouble } from './lib/progress.mjs';

const help = `
npm run k8s:connections -- MAX

Prints a part of a kustomization: the most replicas of each app for a Postgres with max_connections = MAX,
with the pools that the settings have by default. docs/connections.md has the sum.`;

await script(help, ([text = '']) => {
  const connectionsMax = Number(text);
  if (!/^[1-9]\d*$/.test(text)) throw new Trouble(`Give max_connections, a number.\n${help}`);
  const apps = Object.fromEntries(
    Object.entries(defaultConnections).map(([name, settings]) => [
      name,
      { pool: poolOf(settings), min: 2, max: 2, surge: 1 },
    ]),
  );
  const faults = connectionFaults(apps, connectionsMax);
  if (faults[0] !== undefined) {
    throw new Trouble(`${connectionsMax} is too few for two replicas of each app:\n${faults[0]}`);
  }
  const replicas = replicasWithin(connectionsMax, apps, replicaWeights);
  const patches = Object.entries(replicas).map(
    ([name, max]) => `  - target: { kind: HorizontalPodAutoscaler, name: ${name} }
    patch: '[{ op: replace, path: /spec/maxReplicas, value: ${max} }]'`,
  );
  console.log(`# npm run k8s:connections -- ${connectionsMax}
configMapGenerator:
  - name: connections
    behavior: merge
    literals: [POSTGRES_CONNECTIONS_MAX=${connectionsMax}]
patches:
${patches.join('\n')}`);
});
