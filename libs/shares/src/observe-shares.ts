import { Counter, Gauge, type Registry } from '@glovebox/service-host';
import type { Shares } from './shares';

/** Observes shares by name. No label names an owner: the number of tenants has no bound. */
export function observeShares(registry: Registry, shares: Readonly<Record<string, Shares>>): void {
  const registers = [registry];
  const named = Object.entries(shares);
  new Gauge({
    name: 'glovebox_share_places',
    help: 'Places that tenants share, by what they are for and what becomes of them',
    labelNames: ['share', 'state'],
    registers,
    collect() {
      for (const [share, { state }] of named) {
        this.set({ share, state: 'held' }, state.held);
        this.set({ share, state: 'free' }, state.places - state.held);
      }
    },
  });
  new Gauge({
    name: 'glovebox_share_waiting',
    help: 'Requests that wait for a place',
    labelNames: ['share'],
    registers,
    collect() {
      for (const [share, { state }] of named) this.set({ share }, state.waiting);
    },
  });
  new Counter({
    name: 'glovebox_share_refusals_total',
    help: 'Requests that got no place; own: their tenant held too many, scarce: nothing was left',
    labelNames: ['share', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const [share, { state }] of named) {
        this.inc({ share, reason: 'own' }, state.refusals.own);
        this.inc({ share, reason: 'scarce' }, state.refusals.scarce);
      }
    },
  });
}
