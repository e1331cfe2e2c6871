import type { Histogram, Registry } from './metrics';

interface Shape<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly buckets: readonly number[];
}

/** The figures of one combination of labels. */
class Tally {
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(
    readonly labels: readonly string[],
    private readonly bounds: readonly number[],
  ) {
    this.counts = bounds.map(() => 0);
  }

  add(value: number): void {
    const at = this.#bucketOf(value);
    if (at < this.bounds.length) this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
    this.count += 1;
  }

  #bucketOf(value: number): number {
    let at = 0;
    while (at < this.bounds.length && value > (this.bounds[at] ?? 0)) at += 1;
    return at;
  }
}

/**
 * A histogram counted in plain numbers and converted for prom-client when it is read. prom-client
 * itself makes a text of the labels for each value. Takes up to two labels.
 */
export class TalliedHistogram<Label extends string> {
  readonly name: string;
  readonly #tallies = new Map<string, Map<string, Tally>>();

  constructor(
    private readonly shape: Shape<Label>,
    registry: Registry,
  ) {
    this.name = shape.name;
    registry.registerMetric(this as unknown as Histogram);
  }

  /** The tally of these label values, in their order. Hot path. */
  tallyOf(first: string, second = ''): Tally {
    return this.#tallies.get(first)?.get(second) ?? this.#begin(first, second);
  }

  /** Called by prom-client's registry. */
  get() {
    const { name, help } = this.shape;
    return { name, help, type: 'histogram', aggregator: 'sum', values: [...this.#values()] };
  }

  reset(): void {
    this.#tallies.clear();
  }

  #begin(first: string, second: string): Tally {
    const tally = new Tally([first, second], this.shape.buckets);
    const seconds = this.#tallies.get(first) ?? new Map<string, Tally>();
    this.#tallies.set(first, seconds.set(second, tally));
    return tally;
  }

  *#values() {
    const { name, labelNames, buckets } = this.shape;
    for (const seconds of this.#tallies.values()) {
      for (const { labels, counts, sum, count } of seconds.values()) {
        const own = Object.fromEntries(labelNames.map((label, at) => [label, labels[at] ?? '']));
        let upTo = 0;
        for (const [at, le] of buckets.entries()) {
          upTo += counts[at] ?? 0;
          yield { metricName: `${name}_bucket`, labels: { le, ...own }, value: upTo };
        }
        yield { metricName: `${name}_bucket`, labels: { le: '+Inf', ...own }, value: count };
        yield { metricName: `${name}_sum`, labels: own, value: sum };
        yield { metricName: `${name}_count`, labels: own, value: count };
      }
    }
  }
}
