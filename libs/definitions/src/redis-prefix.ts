import type { Redis } from 'ioredis';
import type { DefinitionKind } from './definition';
import { logPartBytesMax, logPartEntriesMax, type Head, type LogEntry, type LogPart } from './log';
import { applyScript, keys, lookScript, refuseScript, surveyScript } from './redis-scripts';

export { changeChannel } from './redis-scripts';
export const acknowledgementChannel = '{glovebox}:definitions:acknowledged';

type Script = (...args: (string | number)[]) => Promise<unknown>;
type Scripted = Redis &
  Record<
    'surveyDefinitions' | 'applyDefinitions' | 'refuseDefinitions' | 'lookAtDefinitions',
    Script
  >;

/** Follower and ticket, follower and ticket, … */
export type DrawnTickets = readonly string[];

/** The last two begin anew: Redis has another log, or lost a part of this one. */
export type ApplyMode = 'continue' | 'replace' | 'repair';

export interface Survey {
  /** Where Redis says that it is, also as the text that it says it in. */
  readonly text: string;
  readonly head: Head | undefined;
  /** False when what Redis holds cannot be a prefix of the log, whatever its head says. */
  readonly sound: boolean;
  readonly tickets: DrawnTickets;
}

export interface Look {
  readonly part: LogPart;
  /** After this follower drew the ticket, Postgres's head was `head`. */
  readonly answered: { readonly ticket: number; readonly head: Head } | undefined;
  /** After this follower drew the ticket, Postgres refused every writer. 0: not every one. */
  readonly refused: number;
}

/** Redis's copy of the log: always a prefix of it, or not believed. */
export class RedisPrefix {
  readonly #redis: Scripted;

  constructor(redis: Redis) {
    const numberOfKeys = Object.keys(keys).length;
    const scripts = {
      surveyDefinitions: surveyScript,
      applyDefinitions: applyScript,
      refuseDefinitions: refuseScript,
      lookAtDefinitions: lookScript,
    };
    for (const [name, lua] of Object.entries(scripts)) {
      redis.defineCommand(name, { numberOfKeys, lua });
    }
    this.#redis = redis as Scripted;
  }

  /** With its name a writer says that it lives: without its word Redis does not stand in for Postgres. */
  async survey(writer?: string): Promise<Survey> {
    const answer = await this.#redis.surveyDefinitions(...Object.values(keys), writer ?? '');
    const [text, sound, tickets] = answer as [string, string, string[]];
    return { text, head: parseHead(text), sound: sound !== '', tickets };
  }

  /** Takes the part if Redis still says `before`; either way, tells where Redis is now. */
  async apply(
    before: string,
    part: LogPart,
    options: { mode: ApplyMode; announce: boolean; relay: string; tickets: DrawnTickets },
  ): Promise<{ head: Head | undefined; receivers: number }> {
    const { mode, announce, relay, tickets } = options;
    const answer = await this.#redis.applyDefinitions(
      ...Object.values(keys),
      before,
      formatHead({ epoch: part.head.epoch, version: part.upTo }),
      mode,
      announce ? 'announce' : '',
      relay,
      tickets.length / 2,
      ...tickets,
      ...part.entries.flatMap((entry) => [
        `${entry.kind}:${entry.id}:${entry.tenantId}`,
        entry.version,
        entry.payload?.toString('base64') ?? '',
        entry.proof ?? '',
      ]),
    );
    const [head, receivers] = answer as [string, number];
    return { head: parseHead(head), receivers };
  }

  /** Every sealed payload that Redis holds, believed or not. */
  async *payloads(): AsyncGenerator<Buffer> {
    let cursor = '0';
    do {
      const [next, fields] = await this.#redis.hscan(keys.entries, cursor, 'COUNT', 500);
      cursor = next;
      for (const [at, value] of fields.entries()) {
        if (at % 2 === 1 && value !== '') yield Buffer.from(value, 'base64');
      }
    } while (cursor !== '0');
  }

  /** Says that Postgres refuses this writer, unless Redis has less than the writer knows of. */
  async refuse(writer: string, known: Head, tickets: DrawnTickets): Promise<void> {
    await this.#redis.refuseDefinitions(
      ...Object.values(keys),
      writer,
      known.epoch,
      known.version,
      ...tickets,
    );
  }

  async leave(writer: string): Promise<void> {
    await this.#redis.hdel(keys.writers, writer);
  }

  /** Undefined when Redis is no prefix of any log right now. */
  async look(
    follower: string,
    ticket: number,
    after: number,
    entriesMax = logPartEntriesMax,
  ): Promise<Look | undefined> {
    const answer = await this.#redis.lookAtDefinitions(
      ...Object.values(keys),
      follower,
      ticket,
      after,
      entriesMax,
      logPartBytesMax,
    );
    const [headText = '', answeredHead = '', answeredTicket = '', refused, full, ...fields] =
      answer as string[];
    const head = parseHead(headText);
    const entries = parseEntries(fields);
    if (!head || !entries) return undefined;
    const last = entries.at(-1);
    const upTo = last && full === 'full' ? last.version : head.version;
    const whole = parseHead(answeredHead);
    return {
      part: { after, head, entries, upTo },
      answered: whole && { ticket: Number(answeredTicket), head: whole },
      refused: Number(refused),
    };
  }
}

function parseEntries(fields: readonly string[]): LogEntry[] | undefined {
  const entries: LogEntry[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [kind, id, tenantId] = (fields[at] ?? '').split(':');
    if (!kind || !id || !tenantId) return undefined;
    const payload = fields[at + 2] ?? '';
    entries.push({
      version: Number(fields[at + 1]),
      kind: kind as DefinitionKind,
      id,
      tenantId,
      payload: payload === '' ? null : Buffer.from(payload, 'base64'),
      proof: fields[at + 3] ?? '',
    });
  }
  return entries;
}

export function formatHead(head: Head): string {
  return `${head.epoch}:${head.version}`;
}

export function parseHead(text: string): Head | undefined {
  const match = /^([0-9a-f-]{36}):(\d+)$/.exec(text);
  return match ? { epoch: match[1] ?? '', version: Number(match[2]) } : undefined;
}
