// Loaded into a gateway of the bench by --require: turns all counting off.
const { Counter, Registry } = require('prom-client');

const nothing = () => undefined;

// The package does not declare it.
Object.assign(Counter.prototype, { incWithoutExemplar: nothing });
Counter.prototype.labels = () => ({ inc: nothing });

// Histograms tally by themselves (tallied-histogram.ts) and are registered once.
const { registerMetric } = Registry.prototype;
/** @param {any} metric */
Registry.prototype.registerMetric = function (metric) {
  if (typeof metric.of === 'function') metric.of = () => ({ add: nothing });
  return registerMetric.call(this, metric);
};
