import type { Dev } from '../tools/lib/types.js';
import type { Destination } from './gateway/destination.mjs';
import type { Children } from './lib/programs.mjs';

/** The median of several rounds, and their range where there was more than one. */
export interface Band {
  readonly median: number;
  readonly min?: number;
  readonly max?: number;
}

export type Bound = readonly [relation: '≥' | '≤', bound: number];

/** A row of the result. */
export interface Check {
  readonly goal: string;
  readonly what: string;
  readonly reached: string;
  readonly wanted: string;
  readonly met: string;
  /** The known reason why the goal is missed. */
  readonly held: string;
  readonly figure?: Band;
}

/** The figures of one turn by name; all of a bench have the same names. */
export type Figures = Readonly<Record<string, number>>;

export interface Round {
  readonly target: Figures;
  readonly peer: Figures;
}

export interface Timing {
  readonly warmUpTurns: number;
  readonly rounds: number;
}

/** A bench as it is given to runBench(). */
export interface Bench {
  readonly name: string;
  readonly heading: string;
  readonly goals: readonly string[];
  readonly placement: string;
}

export interface BenchOptions {
  readonly quick: boolean;
  readonly timing: Timing;
  wants(goal: string): boolean;
}

export interface Measured {
  readonly checks: Check[];
  readonly versions?: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>>;
}

export type Headers = Readonly<Record<string, string>>;

/** A process that is called over HTTP. */
export interface Site {
  readonly pid: number;
  readonly url: string;
  readonly headers?: Headers;
  /** Of a gateway of the bench: where its metrics are. */
  readonly opsUrl?: string;
}

/** A site that wrk loads, with its script. */
export interface LoadTarget extends Site {
  readonly name: string;
  readonly script?: string | undefined;
}

/** The running product, and what the benches of the gateway start beside it. */
export interface Setting {
  readonly dev: Dev;
  readonly folder: string;
  readonly children: Children;
  readonly destination: Destination;
  /** The destination of wrk's calls; undefined without wrk or a C compiler. */
  readonly upstreamUrl: string | undefined;
  readonly timing: Timing;
  readonly changes: number;
  readonly changesSeconds: number;
  readonly idle: { readonly idleSeconds: number; readonly idleRounds: number };
}

export interface TlsUpstream {
  readonly url: string;
  readonly ca: string;
  readonly caFile: string;
}

/** One more gateway of the running product. */
export interface BenchGateway {
  readonly url: string;
  readonly opsUrl: string;
  readonly pid: number;
  ask(question: 'memory'): Promise<{ readonly liveBytes: number }>;
  ask(question: 'pause'): Promise<{ readonly longestMs: number }>;
  end(): Promise<void>;
}
