import { createHmac, timingSafeEqual } from 'node:crypto';
import { masterVersionOf, UnknownMasterKey, type KeyRing } from '@glovebox/seal';
import type { LogEntry, LogPart } from './log';

class ProofMissing extends Error {
  constructor({ kind, version }: LogEntry) {
    super(`A ${kind} in Redis cannot prove that it is version ${version} of the log`);
    this.name = 'ProofMissing';
  }
}

/**
 * Adds the proofs with which entries go to Redis. The seal binds a payload to its definition, and
 * the proof binds it to its version: a writer of Redis that has an older state of a definition
 * cannot pass it off as a newer one.
 */
export function withProofs(ring: KeyRing, part: LogPart): LogPart {
  const entries = part.entries.map((entry) => {
    const proof = proofOf(ring, part.head.epoch, entry)?.toString('base64');
    return proof === undefined ? entry : { ...entry, proof };
  });
  return { ...part, entries };
}

/** Checks the proof of an entry from Redis. A deletion needs none: all it does is refuse. */
export function requireProof(ring: KeyRing, epoch: string, entry: LogEntry): void {
  if (!entry.payload) return;
  const proof = proofOf(ring, epoch, entry);
  const given = Buffer.from(entry.proof ?? '', 'base64');
  const isProven = proof?.length === given.length && timingSafeEqual(proof, given);
  if (!isProven) throw new ProofMissing(entry);
}

/**
 * Makes the proof by the master key that seals the payload, which every reader needs. Undefined if
 * the ring lacks that key.
 */
function proofOf(ring: KeyRing, epoch: string, entry: LogEntry): Buffer | undefined {
  const { kind, id, tenantId, version, payload } = entry;
  const masterVersion = payload ? masterVersionOf(payload) : undefined;
  if (!payload || masterVersion === undefined) return undefined;
  try {
    return createHmac('sha256', ring.derive(masterVersion, 'definitions in Redis', tenantId))
      .update(`${epoch} ${kind} ${id} ${tenantId} ${version} `)
      .update(payload)
      .digest();
  } catch (error) {
    if (error instanceof UnknownMasterKey) return undefined;
    throw error;
  }
}
