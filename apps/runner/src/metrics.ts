import { Counter, Gauge, TalliedHistogram, type Registry } from '@glovebox/service-host';
import type { SandboxPool } from './pool/pool';

export interface RunnerMetrics {
  observeRun(runtime: string, outcome: string, durationMs: number): void;
}

export function createMetrics(registry: Registry, pool: SandboxPool, level: number): RunnerMetrics {
  const registers = [registry];
  const ended = new Map<string, Map<string, number>>();
  new Counter({
    name: 'glovebox_runs_total',
    help: 'Runs by runtime and outcome',
    labelNames: ['runtime', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [runtime, counts] of ended) {
        for (const [outcome, count] of counts) this.inc({ runtime, outcome }, count);
      }
    },
  });
  const shape = {
    name: 'glovebox_run_seconds',
    help: 'Time of a run, waiting for a process included',
    labelNames: ['runtime'] as const,
    buckets: [0.0005, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 210],
  };
  const duration = new TalliedHistogram(shape, registry);
  new Gauge({
    name: 'glovebox_sandbox_level',
    help: 'Isolation that was found to hold: 3 namespaces, 2 Landlock and seccomp, 0 none',
    registers,
  }).set(level);
  new Gauge({
    name: 'glovebox_sandbox_processes',
    help: 'Sandboxed processes, and runs that wait for one, by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(pool.counts)) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'glovebox_sandbox_memory_bytes',
    help: 'Memory of all sandboxes: the cap, the part that is spoken for, and the part in use',
    labelNames: ['kind'],
    registers,
    collect() {
      const { capBytes, reservedBytes, privateBytes } = pool.memory;
      this.set({ kind: 'cap' }, capBytes);
      this.set({ kind: 'reserved' }, reservedBytes);
      this.set({ kind: 'private' }, privateBytes);
    },
  });
  new Gauge({
    name: 'glovebox_sandbox_oldest_wait_seconds',
    help: 'Time that the first of the waiting runs has waited',
    registers,
    collect() {
      this.set(pool.oldestWaitMs / 1000);
    },
  });
  new Counter({
    name: 'glovebox_sandbox_ended_total',
    help: 'Sandboxes with code that were ended, by reason',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of pool.ended) this.inc({ reason }, count);
    },
  });
  return {
    observeRun(runtime, outcome, durationMs) {
      const counts = ended.get(runtime) ?? new Map<string, number>();
      ended.set(runtime, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
      duration.tallyOf(runtime).add(durationMs / 1000);
    },
  };
}
