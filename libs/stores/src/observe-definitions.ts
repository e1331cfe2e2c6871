import type { DefinitionFollower } from '@glovebox/definitions';
import { Counter, Gauge, type Registry } from '@glovebox/service-host';

/** Tells how old this process's knowledge of the log is, and which store definitions came from. */
export function observeDefinitions(
  registry: Registry,
  follower: Pick<DefinitionFollower, 'toldMsAgo' | 'taken' | 'newer'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'glovebox_definitions_told_seconds',
    help: 'Time since Postgres was asked for the version of the definition log that is applied',
    registers,
    collect() {
      this.set(follower.toldMsAgo / 1_000);
    },
  });
  new Gauge({
    name: 'glovebox_definitions_newer',
    help: 'Definitions that this process is too old for: calls of them get 503 newer_definition',
    registers,
    collect() {
      this.set(follower.newer);
    },
  });
  new Counter({
    name: 'glovebox_definitions_taken_total',
    help: 'Definitions that this process has read, by the store that they came from',
    labelNames: ['store'],
    registers,
    collect() {
      this.reset();
      for (const [store, count] of Object.entries(follower.taken)) this.inc({ store }, count);
    },
  });
}
