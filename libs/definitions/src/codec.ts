import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  masterVersionOf,
  openWithRing,
  sealWithRing,
  UnknownMasterKey,
  type KeyRing,
  type Place,
} from '@glovebox/seal';
import type { Definition, ProxyDefinition } from './definition';
import type { LogEntry, LogPart } from './log';

/** The shape of a payload. A change of it that old readers would misread raises the number. */
const payloadVersion = 1;

export class UnknownPayloadVersion extends Error {
  constructor(version: unknown) {
    super(
      `A definition has the payload version ${String(version)}, which this process is too old for`,
    );
    this.name = 'UnknownPayloadVersion';
  }
}

/** Sealed by the ring, so that a process can follow the log while Postgres is away. */
export function sealDefinition(ring: KeyRing, version: number, definition: Definition): Buffer {
  const payload = JSON.stringify({ v: payloadVersion, definition });
  return sealWithRing(ring, version, placeOf(definition), payload);
}

/** Byte for byte what it was, under another master key: also a payload of a release to come. */
export function resealPayload(
  ring: KeyRing,
  version: number,
  entry: { kind: string; id: string; tenantId: string; payload: Buffer },
): Buffer {
  const place = placeOf(entry);
  return sealWithRing(ring, version, place, openWithRing(ring, place, entry.payload));
}

export function openDefinition(
  ring: KeyRing,
  entry: { kind: string; id: string; tenantId: string; payload: Buffer },
): Definition {
  return parseDefinition(openWithRing(ring, placeOf(entry), entry.payload).toString('utf8'));
}

class ProofMissing extends Error {
  constructor({ kind, version }: LogEntry) {
    super(`A ${kind} in Redis cannot prove that it is version ${version} of the log`);
    this.name = 'ProofMissing';
  }
}

/**
 * As the entries go to Redis. What is sealed is bound to its definition, and the proof to its version:
 * who may write to Redis, and has an older state of the definition, cannot pass it off as a newer one.
 */
export function withProofs(ring: KeyRing, part: LogPart): LogPart {
  const entries = part.entries.map((entry) => {
    const proof = proofOf(ring, part.head.epoch, entry)?.toString('base64');
    return proof === undefined ? entry : { ...entry, proof };
  });
  return { ...part, entries };
}

/** For an entry from Redis. To delete takes no proof: it only ever refuses. */
export function requireProof(ring: KeyRing, epoch: string, entry: LogEntry): void {
  if (!entry.payload) return;
  const proof = proofOf(ring, epoch, entry);
  const given = Buffer.from(entry.proof ?? '', 'base64');
  const isProven = proof?.length === given.length && timingSafeEqual(proof, given);
  if (!isProven) throw new ProofMissing(entry);
}

/** By the master key that seals the payload, which every reader needs; undefined: not by this ring. */
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

/** The one place where text becomes a definition: it was written and authenticated by us. */
export function parseDefinition(text: string): Definition {
  const { v, definition } = JSON.parse(text) as { v: unknown; definition: Definition };
  if (v !== payloadVersion) throw new UnknownPayloadVersion(v);
  return definition.kind === 'proxy' ? completed(definition) : definition;
}

/** Members that a payload may be too old to have. */
function completed(
  proxy: Partial<ProxyDefinition> & Omit<ProxyDefinition, 'tls' | 'requestSteps' | 'responseSteps'>,
): ProxyDefinition {
  const { tls = null, requestSteps = [], responseSteps = [] } = proxy;
  return { ...proxy, tls, requestSteps, responseSteps };
}

function placeOf(entry: { kind: string; id: string; tenantId: string }): Place {
  return {
    table: 'definition_log',
    column: entry.kind,
    tenantId: entry.tenantId,
    record: entry.id,
  };
}
