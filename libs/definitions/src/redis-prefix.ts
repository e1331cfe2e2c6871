import type { Redis } from 'ioredis';
import type { DefinitionKind } from './definition';
import {
  formatHead,
  logPartBytesMax,
  logPartEntriesMax,
  type Head,
  type LogEntry,
  type LogPart,
} from './log';
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

/** `replace` and `repair` begin anew: Redis has another log, or lost a part of this one. */
export type ApplyMode = 'continue' | 'replace' | 'repair';

export interface Survey {
  /** The head in Redis, as the text that Redis has. */
  readonly text: string;
  readonly head: Head | undefined;
  /** False if Redis cannot hold a prefix of the log, whatever its head says. */
  readonly sound: boolean;
  readonly tickets: DrawnTickets;
}

interface Refusal {
  readonly writer: string;
  readonly ticket: number;
  /** The newest version that the writer knew of, and the proof of all this. */
  readonly proof: string;
}

export interface Look {
  readonly part: LogPart;
  /** Postgres's head was `head` after this follower drew the ticket. */
  readonly answered:
    { readonly ticket: number; readonly head: Head; readonly proof: string } | undefined;
  /** The proofs that nothing is missing from the part. */
  readonly manifests: readonly string[];
  /** The word of each writer that Postgres refused it after this follower drew the ticket. */
  readonly refusals: readonly Refusal[];
}

/** A Redis that holds no prefix answers with an empty text alone. */
type LookAnswer = readonly [
  head: string,
  answeredHead?: string,
  answeredTicket?: string,
  refusals?: string[],
  full?: string,
  proof?: string,
  manifests?: string[],
  ...fields: string[],
];

/** Redis's copy of the log. It is always a prefix of the log, or not believed. */
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

  /**
   * A writer that gives its name says that it lives. Without the word of every writer, Redis does
   * not stand in for Postgres.
   */
  async survey(writer?: string): Promise<Survey> {
    const answer = await this.#redis.surveyDefinitions(...Object.values(keys), writer ?? '');
    const [text, sound, tickets] = answer as [string, string, string[]];
    return { text, head: parseHead(text), sound: sound !== '', tickets };
  }

  /** Applies the part if Redis still says `before`, and returns Redis's head in any case. */
  async apply(
    before: string,
    part: LogPart,
    options: {
      mode: ApplyMode;
      announce: boolean;
      relay: string;
      tickets: DrawnTickets;
      /** The proof of the part, and the answer to each ticket. */
      manifest?: string;
      answerProof?: (follower: string, ticket: number) => string;
    },
  ): Promise<{ head: Head | undefined; receivers: number }> {
    const { mode, announce, relay, tickets, manifest = '', answerProof = () => '' } = options;
    const answer = await this.#redis.applyDefinitions(
      ...Object.values(keys),
      before,
      formatHead({ epoch: part.head.epoch, version: part.upTo }),
      mode,
      announce ? 'announce' : '',
      relay,
      tickets.length / 2,
      manifest,
      part.upTo,
      ...tripled(tickets, answerProof),
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

  /** Reads every sealed payload in Redis, believed or not. */
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
  async refuse(
    writer: string,
    known: Head,
    tickets: DrawnTickets,
    proofOf: (follower: string, ticket: number) => string,
  ): Promise<void> {
    await this.#redis.refuseDefinitions(
      ...Object.values(keys),
      writer,
      known.epoch,
      known.version,
      ...tripled(tickets, proofOf),
    );
  }

  async leave(writer: string): Promise<void> {
    await this.#redis.hdel(keys.writers, writer);
  }

  /** Returns undefined if Redis is no prefix of any log now. */
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
    const [
      headText,
      answeredHead = '',
      answeredTicket,
      refusals,
      full,
      proof,
      manifests,
      ...fields
    ] = answer as LookAnswer;
    const head = parseHead(headText);
    const entries = parseEntries(fields);
    if (!head || !entries) return undefined;
    const last = entries.at(-1);
    const upTo = last && full === 'full' ? last.version : head.version;
    const whole = parseHead(answeredHead);
    return {
      part: { after, head, entries, upTo },
      answered: whole && { ticket: Number(answeredTicket), head: whole, proof: proof ?? '' },
      manifests: manifests ?? [],
      refusals: parseRefusals(refusals ?? []),
    };
  }
}

/** Follower, ticket and proof, one after the other. */
function tripled(
  tickets: DrawnTickets,
  proofOf: (follower: string, ticket: number) => string,
): string[] {
  return tickets.flatMap((follower, at) => {
    if (at % 2 === 1) return [];
    const ticket = tickets[at + 1] ?? '';
    return [follower, ticket, proofOf(follower, Number(ticket))];
  });
}

function parseRefusals(fields: readonly string[]): Refusal[] {
  const refusals: Refusal[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [writer = '', ticket, proof = ''] = fields.slice(at, at + 3);
    refusals.push({ writer, ticket: Number(ticket), proof });
  }
  return refusals;
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

export function parseHead(text: string): Head | undefined {
  const match = /^([0-9a-f-]{36}):(\d+)$/.exec(text);
  return match ? { epoch: match[1] ?? '', version: Number(match[2]) } : undefined;
}
