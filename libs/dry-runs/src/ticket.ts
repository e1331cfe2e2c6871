import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Sealer } from '@glovebox/seal';

/** The header of an order that carries its ticket. */
export const ticketHeader = 'glovebox-ticket';

/** Two clocks of one installation may differ by a part of it. */
const validMs = 10_000;
/** The longest that one is valid: it may come from a clock that is ahead. */
export const validMaxMs = 2 * validMs;

/** Known of an order before its body is read. */
export interface Ticket {
  readonly tenantId: string;
  readonly actorId: string;
  /** SHA-256 of the body. */
  readonly digest: string;
  /** No other ticket has it. */
  readonly proof: string;
}

/**
 * Proves that an order comes from a process that holds the key ring, names exactly this body, and
 * was written a moment ago.
 */
export class Tickets {
  private constructor(private readonly key: Buffer) {}

  static async by(sealer: Sealer): Promise<Tickets> {
    return new Tickets(await sealer.lastingKey('dry-runs'));
  }

  write(owner: Pick<Ticket, 'tenantId' | 'actorId'>, body: Buffer): string {
    const { tenantId, actorId } = owner;
    const named = [tenantId, actorId, digestOf(body), Date.now() + validMs].join(' ');
    const text = Buffer.from(named).toString('base64url');
    return `${text}.${this.#proofOf(text).toString('base64url')}`;
  }

  /** Undefined for what is no ticket of ours, or was one. */
  read(header: string | undefined): Ticket | undefined {
    const [text = '', proof = '', ...more] = (header ?? '').split('.');
    const given = Buffer.from(proof, 'base64url');
    const wanted = this.#proofOf(text);
    if (more.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      return undefined;
    }
    const named = Buffer.from(text, 'base64url').toString('utf8').split(' ');
    const [tenantId = '', actorId = '', digest = '', until] = named;
    const leftMs = Number(until) - Date.now();
    // One from a clock that is far ahead would be valid for long.
    return leftMs > 0 && leftMs <= validMaxMs
      ? { tenantId, actorId, digest, proof: wanted.toString('base64url') }
      : undefined;
  }

  #proofOf(text: string): Buffer {
    return createHmac('sha256', this.key).update(text).digest();
  }
}

export const isOf = ({ digest }: Ticket, body: Buffer): boolean => digestOf(body) === digest;

const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('base64url');
