/**
 * The processes of one app that speaks to Postgres.
 *
 * @typedef {object} AppConnections
 * @property {number} pool the most connections that one process holds
 * @property {number} min the least replicas
 * @property {number} max the most replicas
 * @property {number} surge replicas that a rollout adds
 */

/** Pools that a process has beside those of its settings: definitions 2, data keys and schema 1. */
export const ownConnections = 3;

/**
 * Superusers have 3 by default. The others are for the command that migrates, those of the
 * operator, a collector of metrics and a person.
 */
export const reservedConnections = 10;

/**
 * The most connections of one process, by its settings.
 *
 * @param {{ DATABASE_CONNECTIONS: number, SEARCH_CONNECTIONS?: number }} settings
 */
export const poolOf = ({ DATABASE_CONNECTIONS, SEARCH_CONNECTIONS = 0 }) =>
  DATABASE_CONNECTIONS + SEARCH_CONNECTIONS + ownConnections;

/**
 * The connections of all apps while each is being rolled out, and what is kept for others.
 *
 * @param {Readonly<Record<string, AppConnections>>} apps
 * @param {'min' | 'max'} replicas
 */
export const connectionSum = (apps, replicas) =>
  Object.values(apps).reduce(
    (sum, app) => sum + (app[replicas] + app.surge) * app.pool,
    reservedConnections,
  );

/**
 * What is wrong, in words. Empty: Postgres has a connection for everybody.
 *
 * @param {Readonly<Record<string, AppConnections>>} apps
 * @param {number} connectionsMax the `max_connections` of Postgres
 */
export function connectionFaults(apps, connectionsMax) {
  return /** @type {const} */ (['min', 'max']).flatMap((replicas) => {
    const sum = connectionSum(apps, replicas);
    if (sum <= connectionsMax) return [];
    const parts = Object.entries(apps).map(
      ([name, app]) => `${name} (${app[replicas]} + ${app.surge}) × ${app.pool}`,
    );
    return [
      `${sum} connections at the ${replicas}imum of replicas, of ${connectionsMax}: ` +
        `${parts.join(', ')}, reserved ${reservedConnections}`,
    ];
  });
}

/**
 * The most replicas of each app that fit, in the proportion of `weights`.
 *
 * @param {Readonly<Record<string, AppConnections>>} apps
 * @param {number} connectionsMax
 * @param {Readonly<Record<string, number>>} weights
 * @returns {Record<string, number>}
 */
export function replicasWithin(connectionsMax, apps, weights) {
  const grown = Object.fromEntries(
    Object.entries(apps).map(([name, app]) => [name, { ...app, max: app.min }]),
  );
  for (;;) {
    const [next] = Object.entries(grown)
      .filter(([, app]) => connectionSum(grown, 'max') + app.pool <= connectionsMax)
      .sort(([one, a], [other, b]) => a.max / (weights[one] ?? 1) - b.max / (weights[other] ?? 1));
    if (!next) break;
    next[1].max += 1;
  }
  return Object.fromEntries(Object.entries(grown).map(([name, { max }]) => [name, max]));
}
