import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { buildInfo } from './build-info';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** A registry for one process, with the default metrics of Node. */
export function createRegistry(app: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ app });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'glovebox_build_info',
    help: 'The build of this process: its version, its commit and the Node.js that it runs on',
    labelNames: ['version', 'commit', 'node'],
    registers: [registry],
  }).set({ ...buildInfo }, 1);
  return registry;
}
