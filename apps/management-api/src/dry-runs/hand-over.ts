import { Agent, request, type IncomingMessage } from 'node:http';
import {
  dryRunsPath,
  ticketHeader,
  writeOrder,
  type DryRunOrder,
  type Tickets,
} from '@glovebox/dry-runs';
import { Problem, problemCatalogue, type ProblemCode } from '@glovebox/problems';
import { readBody, traceHeader } from '@glovebox/wire';
import type { BodyRoom } from '../shares/body-room';

/** Beyond the time of two runs of code, and of the wait for their processes. */
const answerMs = 60_000;
/** Two runs, each of which an author may look at for 15 minutes. */
const inspectedAnswerMs = 31 * 60_000;
const answerBytesMax = 32 * 1024 * 1024;
/** A gateway allows so few at once that more connections would only be refused. */
const connectionsMax = 32;

/** Whoever waits for a dry run, and the room of its answer. */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly room: Pick<BodyRoom, 'keep'>;
}

/** The gateway that carries out dry runs. */
export class DryRunGateway {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connectionsMax, maxFreeSockets: 4 });
  #underWay = 0;

  constructor(
    private readonly url: string,
    private readonly tickets: Tickets,
  ) {}

  /** Returns the answer as JSON that is written already. */
  async carryOut(order: DryRunOrder, waiting: Waiting): Promise<Buffer> {
    // One more would wait with its body for a connection, as long as others run.
    if (this.#underWay >= connectionsMax) throw unavailable(new Error('too many are under way'));
    this.#underWay += 1;
    try {
      return await this.#handOver(order, waiting);
    } finally {
      this.#underWay -= 1;
    }
  }

  async #handOver(order: DryRunOrder, { signal, room }: Waiting): Promise<Buffer> {
    const body = writeOrder(order);
    const answer = await this.#ask(order, body, signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw unavailable(cause);
    });
    const reading = { idleMs: answerMs, wholeMs: answerMs, keep: room.keep };
    try {
      const bytes = await readBody(answer, answerBytesMax, reading);
      if (answer.statusCode === 200) return bytes;
      throw problemIn(bytes, answer);
    } finally {
      // What is left unread would hold its connection for ever.
      if (!answer.complete) answer.destroy();
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(order: DryRunOrder, body: Buffer, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        [ticketHeader]: this.tickets.write(order.caller, body),
        [traceHeader]: order.traceId,
      };
      const url = new URL(dryRunsPath, this.url);
      const asking = request(url, {
        method: 'POST',
        ...{ headers, signal, agent: this.#agent },
        timeout: order.inspect === undefined ? answerMs : inspectedAnswerMs,
      });
      asking.on('response', resolve);
      asking.on('timeout', () => asking.destroy(new Error('the gateway is silent')));
      asking.on('error', reject);
      asking.end(body);
    });
  }
}

/** A gateway of an earlier release takes the path for one of the management API, or for none. */
const strange = new Set([401, 404, 405]);

function problemIn(bytes: Buffer, { statusCode = 502, headers }: IncomingMessage): Problem {
  if (strange.has(statusCode)) return unavailable(new Error(`the gateway answered ${statusCode}`));
  const { code, status, detail, errors, position } = JSON.parse(bytes.toString('utf8')) as {
    readonly code: ProblemCode;
    readonly status: number;
    readonly detail?: string;
    readonly errors?: Readonly<Record<string, readonly string[]>>;
    readonly position?: { line: number; column: number };
  };
  if (!Object.hasOwn(problemCatalogue, code)) return unavailable(new Error('an unknown problem'));
  const retryAfter = Number(headers['retry-after']);
  return new Problem(code, {
    ...{ status, position },
    ...(detail === undefined ? {} : { detail }),
    ...(errors === undefined ? {} : { errors }),
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  });
}

const unavailable = (cause: unknown): Problem =>
  new Problem('service_unavailable', {
    ...{ detail: 'No gateway carries out dry runs at the moment.', retryAfterSeconds: 1, cause },
  });
