import { errors, type Glovebox, type GloveboxError } from '@glovebox/client';
import { findByName } from '../find-by-name';
import { bundle, type Bundle } from './bundle';
import { Positions, type CodePlace, type Place } from './positions';
import { valueOf, type CodeFile, type ProxyFiles, type ReactorFiles } from './project';
import { keepsValues, sentSteps } from './steps';

type Json = Readonly<Record<string, unknown>>;

/** Glovebox ends an inspected run after 15 minutes. */
const inspectedMs = 16 * 60_000;

/** A part of a resource whose code is run by itself. */
export type Side = 'reactor' | 'request' | 'response';

/** The code of a dry run, by its sides. */
export type SentCode = Readonly<Partial<Record<Side, Bundle>>>;

/** A debugger that runs are shown to. */
export interface Inspected {
  /** Ties runs to the debugger. */
  readonly session: string;
  /** Is told the code before it is sent. */
  expect(code: SentCode): Promise<void>;
}

interface Line {
  readonly at: string;
  readonly level: string;
  readonly text: string;
  readonly side?: 'request' | 'response';
}

interface Frame extends CodePlace {
  readonly function?: string;
}

interface DryRunError {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly message?: string;
  readonly errors?: Readonly<Record<string, string | readonly string[]>>;
  readonly position?: CodePlace;
  readonly stack?: readonly Frame[];
}

interface DryRun {
  readonly status: 'completed' | 'failed';
  readonly result?: unknown;
  readonly request?: unknown;
  readonly answer?: unknown;
  readonly failed_at?: 'request' | 'answer';
  readonly error?: DryRunError;
  readonly lines: readonly Line[];
  readonly duration_ms: number;
}

/** How unsaved code ended in the sandbox, in terms of the files of the author. */
export interface Outcome extends Omit<DryRun, 'error'> {
  readonly error?: {
    readonly code: string;
    readonly status: number;
    readonly title: string;
    readonly detail?: string;
    readonly message?: string;
    readonly errors?: Readonly<Record<string, string | readonly string[]>>;
    readonly place?: Place;
    readonly stack?: readonly (Partial<Place> & { readonly function?: string })[];
    readonly excerpt?: string;
  };
}

export interface ReactorTrial {
  readonly args?: unknown;
  readonly network?: boolean;
  readonly svc?: boolean;
  /** In place of that of the file. */
  readonly configuration?: Readonly<Record<string, string>>;
}

export interface ProxyTrial {
  readonly request?: Json;
  readonly answer?: Json;
  readonly configuration?: Readonly<Record<string, string>>;
}

/** Runs the code of files as it is, in the sandbox of Glovebox. Nothing is stored. */
export class Trials {
  constructor(
    private readonly root: string,
    private readonly env: Readonly<Record<string, string | undefined>>,
    private readonly api: Glovebox,
    private readonly inspected?: Inspected,
  ) {}

  /** The files that are in the code, and what came of it. */
  async reactor(
    files: ReactorFiles,
    { configuration, ...trial }: ReactorTrial,
    watched: (inputs: readonly string[]) => void = () => undefined,
  ): Promise<Outcome> {
    const { declared, members } = files;
    const made = await this.#bundle(files.code, watched);
    const { request_parameters } = members;
    const stored = await this.#configurationOf(files, configuration);
    const body = {
      reactor: {
        formula: {
          ...{ code: made.code, runtime: files.code.runtime, configuration: declared },
          ...(request_parameters === undefined ? {} : { request_parameters }),
        },
        ...(stored.values && { configuration: stored.values }),
      },
      ...(stored.id === undefined ? {} : { reactor_id: stored.id }),
      ...trial,
    };
    return this.#run('/reactors/dry-runs', body, { reactor: made });
  }

  async proxy(
    files: ProxyFiles,
    { configuration, request = {}, answer }: ProxyTrial,
    watched: (inputs: readonly string[]) => void = () => undefined,
  ): Promise<Outcome> {
    const sides = { request: files.request, response: files.response };
    const inputs: string[] = [];
    const made: Partial<Record<Side, Bundle>> = {};
    const transforms: Record<string, unknown> = {};
    for (const side of ['request', 'response'] as const) {
      const code = sides[side];
      if (!code) continue;
      made[side] = await this.#bundle(code, (names) => inputs.push(...names));
      transforms[`${side}_transform`] = { code: made[side].code, runtime: code.runtime };
    }
    watched(inputs);
    const stored = await this.#configurationOf(files, configuration);
    const {
      application: _,
      client_certificate: __,
      certificate_authority: ___,
      ...members
    } = files.members;
    const body = {
      proxy: {
        ...members,
        ...sentSteps(members, (at, secret) => valueOf(this.root, files.yaml, at, secret, this.env)),
        ...transforms,
        ...(stored.values && { configuration: stored.values }),
      },
      ...(stored.id === undefined ? {} : { proxy_id: stored.id }),
      request,
      ...(answer === undefined ? {} : { answer }),
    };
    return this.#run('/proxies/dry-runs', body, made);
  }

  async #bundle(code: CodeFile, watched: (inputs: readonly string[]) => void): Promise<Bundle> {
    // Also where the bundle fails, its file is watched.
    watched([code.file]);
    const made = await bundle(this.root, code, this.inspected !== undefined);
    watched(made.inputs);
    return made;
  }

  /** With a single `!keep`, all values of a configuration are those that are stored. */
  async #configurationOf(
    { kind, slug, yaml, configuration, members }: ReactorFiles | ProxyFiles,
    given: Readonly<Record<string, string>> | undefined,
  ): Promise<{ readonly id?: string; readonly values?: Readonly<Record<string, string>> }> {
    const secrets = Object.entries(configuration);
    const isStored = !given && secrets.some(([, { from }]) => from === 'keep');
    const stored = (isStored || keepsValues(members)) && {
      id: (await findByName(this.api, slug, [kind])).id,
    };
    if (isStored) return { ...stored };
    if (given) return { ...stored, values: given };
    const values = secrets.map(([name, secret]) => {
      const path = ['configuration', name];
      return [name, valueOf(this.root, yaml, path, secret, this.env) ?? ''] as const;
    });
    return { ...stored, values: Object.fromEntries(values) };
  }

  async #run(
    path: '/reactors/dry-runs' | '/proxies/dry-runs',
    body: object,
    made: SentCode,
  ): Promise<Outcome> {
    const positionsOf = (side: string | undefined): Positions | undefined => {
      const of = made.reactor ?? made[side === 'answer' ? 'response' : (side as 'request')];
      return of && new Positions(this.root, of);
    };
    const ended = await this.#send(path, body, made).catch((error: unknown) => {
      if (error instanceof errors.invalid_code) return notCompiled(error);
      throw error;
    });
    const { error, lines, ...others } = ended;
    const named = lines.map((line) => {
      const positions = positionsOf(line.side);
      return positions ? { ...line, text: positions.inText(line.text) } : line;
    });
    const shown = error && inFiles(error, positionsOf(ended.failed_at));
    return { ...others, ...(shown && { error: shown }), lines: named };
  }

  /** Members of files are checked there. */
  async #send(
    path: '/reactors/dry-runs' | '/proxies/dry-runs',
    body: object,
    code: SentCode,
  ): Promise<DryRun> {
    const { inspected } = this;
    if (!inspected) return this.api.post(path, { body: body as never }) as Promise<DryRun>;
    await inspected.expect(code);
    const inspecting = { ...body, inspect: inspected.session } as never;
    // A second run would want a second debugger.
    const limits = { timeoutMs: inspectedMs, retries: 0 };
    return this.api.post(path, { body: inspecting, ...limits }) as Promise<DryRun>;
  }
}

/** Code that does not compile is refused before it runs: to its author it is an error of it. */
function notCompiled({ problem }: GloveboxError): DryRun {
  const [[member, [text = '']] = ['', []]] = Object.entries(problem.errors ?? {}).map(
    ([name, texts]) => [name, [...texts]] as const,
  );
  const [, line] = /^line (\d+): /.exec(text) ?? [];
  const position = line === undefined ? undefined : { line: Number(line), column: 1 };
  const error = { ...problem, message: text, ...(position && { position }) };
  const failedAt = member.includes('response') ? 'answer' : 'request';
  return { status: 'failed', failed_at: failedAt, error, lines: [], duration_ms: 0 };
}

function inFiles(
  { position, stack, message, ...error }: DryRunError,
  positions: Positions | undefined,
): NonNullable<Outcome['error']> {
  const place = position && positions?.placeOf(position);
  const excerpt = place && positions?.excerpt(place);
  return {
    ...error,
    ...(message === undefined ? {} : { message: positions?.inText(message) ?? message }),
    ...(place && { place }),
    ...(stack && {
      stack: stack.map(({ function: name, ...at }) => ({
        ...(name === undefined ? {} : { function: name }),
        ...positions?.placeOf(at),
      })),
    }),
    ...(excerpt === undefined ? {} : { excerpt }),
  };
}
