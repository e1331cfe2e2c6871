import type { DefinitionConnection } from '@glovebox/definitions';
import { Gauge, type Registry } from '@glovebox/service-host';

/** Tells how far Redis is behind the definition log of Postgres. Read only for a look at it. */
export function observeRelay(
  registry: Registry,
  relay: Pick<DefinitionConnection['relay'], 'lag'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'glovebox_relay_lag_versions',
    help: 'Versions of the definition log that Redis lacks, as this process knows it',
    registers,
    async collect() {
      this.set((await relay.lag()).versions);
    },
  });
  new Gauge({
    name: 'glovebox_relay_lag_seconds',
    help: 'Time since this process saw that Redis lacks no version of the definition log',
    registers,
    async collect() {
      this.set((await relay.lag()).seconds);
    },
  });
}
