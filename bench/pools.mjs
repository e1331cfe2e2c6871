import {
  created,
  delivered,
  formula,
  listed,
  ofTwoProducts,
  proxied,
  reacted,
} from './lib/two-products.mjs';

export const about =
  'pools of the usual size against larger ones (P7, P13, P14, P16) [--only P7] [--quick] [--write]';

const bench = {
  name: 'pools',
  heading: 'Pools of the usual size against larger ones',
  goals: ['P7', 'P13', 'P14', 'P16'],
  placement:
    'Two products, each with its own Postgres and Redis: one with the usual pools, its peer with ' +
    'DATABASE_CONNECTIONS=20 and SEARCH_CONNECTIONS=12. One tenant, 32 connections. All apps on core 0; load, ' +
    'receiver, Postgres and Redis on core 1. Median [min..max] of the rounds.',
};

/** @type {import('./lib/two-products.mjs').Load[]} */
const loads = [
  ['P7', 'POST /proxy, tokens: 1', (dev) => proxied(dev, 1)],
  ['P7', 'POST /proxy, tokens: 100', (dev) => proxied(dev, 100)],
  ['P13', 'runs per second, accepted to delivered', delivered],
  ['P14', 'GET /reactor-formulas/{id}', formula],
  ['P14', 'POST /tokens', created],
  ['P14', 'GET /tokens', listed],
  ['P16', 'POST /reactors/{id}/react, tokens: 10', (dev) => reacted(dev)],
];

export const run = ofTwoProducts(bench, {
  loads,
  settings: { DATABASE_CONNECTIONS: '20', SEARCH_CONNECTIONS: '12' },
  names: { target: 'usual pools', peer: 'larger pools' },
});
