/** The settings of pools as `config.ts` has them. A spec compares them. */
export const defaultConnections = {
  gateway: { DATABASE_CONNECTIONS: 5 },
  worker: { DATABASE_CONNECTIONS: 4 },
  'management-api': { DATABASE_CONNECTIONS: 6, SEARCH_CONNECTIONS: 6 },
};

/** An app with twice the weight has twice the replicas. */
export const replicaWeights = { gateway: 2, worker: 2, 'management-api': 1 };
