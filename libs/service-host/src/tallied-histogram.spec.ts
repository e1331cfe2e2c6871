import { createRegistry, Histogram } from './metrics';
import { TalliedHistogram } from './tallied-histogram';

describe('a tallied histogram', () => {
  it('reports what a histogram of prom-client would report', async () => {
    const shape = {
      name: 'seconds',
      help: 'Some time',
      labelNames: ['route', 'status'] as const,
      buckets: [0.001, 0.01, 1, 60],
    };
    const [own, theirs] = [createRegistry('a'), createRegistry('a')];
    const tallied = new TalliedHistogram(shape, own);
    const histogram = new Histogram({
      ...shape,
      labelNames: [...shape.labelNames],
      registers: [theirs],
    });
    const values = [0, 0.001, 0.0011, 0.5, 1, 59.9, 60, 61, 1_000];
    for (const [at, value] of values.entries()) {
      const [route, status] = [at % 2 ? 'proxy' : 'react', at % 3 ? '2xx' : '5xx'];
      tallied.tallyOf(route, status).add(value);
      histogram.observe({ route, status }, value);
    }
    const lines = (text: string): string[] =>
      text
        .split('\n')
        .filter((line) => line.startsWith('seconds_'))
        .map((line) =>
          line.replace(/\{(.*)\}/, (_, labels: string) => labels.split(',').sort().join()),
        )
        .sort();
    const said = lines(await own.getSingleMetricAsString('seconds'));
    expect(said.length).toBeGreaterThan(20);
    expect(said).toEqual(lines(await theirs.getSingleMetricAsString('seconds')));
  });
});
