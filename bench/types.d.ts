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
  /** The address of the metrics, for a gateway of the bench. */
  readonly opsUrl?: string;
}

/** A proxy that ends TLS, and the host that the client of the forward bench asks through it. */
export interface Intercepting {
  readonly name: string;
  readonly pid: number;
  readonly proxyUrl: string;
  readonly host: string;
  readonly authorization?: string;
  readonly caFile: string;
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

/** The running product, for the benches of reactors. */
export interface ReactSetting extends Pick<Setting, 'dev' | 'children' | 'timing'> {}

/** The server of calls of a reactor, and all processes that take part in it. */
export interface ReactSite {
  readonly url: string;
  readonly headers: Headers;
  readonly pids: readonly number[];
}

export interface TlsUpstream {
  readonly url: string;
  readonly ca: string;
  readonly caFile: string;
}

/** One more process of the running product, with the probe where it is asked. */
interface BenchProcess {
  readonly opsUrl: string;
  readonly pid: number;
  ask(question: 'memory'): Promise<{ readonly liveBytes: number }>;
  ask(question: 'pause'): Promise<{ readonly longestMs: number }>;
  ask(question: 'allocated'): Promise<{ readonly bytes: number }>;
  end(): Promise<void>;
}

export interface BenchGateway extends BenchProcess {
  readonly url: string;
}

export interface BenchRunner extends BenchProcess {
  /** A value of RUNNER_URLS. */
  readonly url: string;
}

export type Runtime = 'node16' | 'node20';

/** The common setting of the measurements of sandboxes. */
export interface SandboxParts {
  /** Untyped: bundled when the bench runs. */
  readonly libraries: any;
  readonly env: Readonly<Record<string, string>> & { readonly RUNNER_SECRET: string };
  readonly folder: string;
  readonly children: Children;
}

/** A run with its code. */
export interface BenchOrder {
  readonly kind: string;
  readonly tenantId: string;
  readonly resourceId: string;
  readonly runtime: Runtime;
  readonly applicationId: string | null;
  readonly isolation: 'warm' | 'run';
  readonly code: string;
  readonly args: unknown;
  readonly configuration: Readonly<Record<string, string>>;
  readonly svc: boolean;
  readonly urgency: string;
  readonly timeoutMs: number;
  readonly resultBytesMax: number;
}

export type AddRow = (
  goal: string,
  what: string,
  figure: Band,
  bound?: Bound,
  unit?: string,
) => void;

/** One level and runtime to be measured. */
export interface SandboxSetting {
  readonly parts: SandboxParts;
  readonly sandboxes: Sandboxes;
  readonly runtime: Runtime;
  readonly timing: Timing;
  readonly details: Record<string, unknown>;
  readonly row: AddRow;
  wants(goal: string): boolean;
}

/** A runner in the process of the bench. */
export interface Sandboxes {
  readonly level: 2 | 3;
  nodeOf(runtime: Runtime): string;
  counts(): { readonly generic: number };
  /** Runs in the pool. Resolves with the returned value; any other outcome rejects. */
  run(order: Partial<BenchOrder>): Promise<any>;
  /** Starts a sandbox beside the pool. */
  start(runtime: Runtime): {
    readonly ready: Promise<void>;
    readonly exited: Promise<void>;
    kill(): void;
    run(order: Partial<BenchOrder>): Promise<{ readonly kind: string; readonly value?: any }>;
  };
}
