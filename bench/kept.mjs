import { delivered, ofTwoProducts, reacted } from './lib/two-products.mjs';

export const about =
  'runs with kept arguments against RUN_ARGUMENTS_KEPT=0 (P13, P15, P16) [--only P13] [--quick] [--write]';

const bench = {
  name: 'kept',
  heading: 'Runs with kept arguments',
  goals: ['P13', 'P15', 'P16'],
  placement:
    'Two products, each with its own Postgres and Redis: one as it is, its peer with RUN_ARGUMENTS_KEPT=0. One ' +
    'tenant, 32 connections. All apps on core 0; load, receiver, Postgres and Redis on core 1. Median [min..max] of ' +
    '21 rounds.',
};

export const run = ofTwoProducts(bench, {
  loads: [
    ['P13', 'runs per second, accepted to delivered', delivered],
    ['P15', 'POST /reactors/{id}/react', (dev) => reacted(dev, 0)],
    ['P16', 'POST /reactors/{id}/react, tokens: 10', (dev) => reacted(dev)],
  ],
  settings: { RUN_ARGUMENTS_KEPT: '0' },
  names: { target: 'kept', peer: 'never' },
  rounds: 21,
  bound: ['≥', 0.97],
});
