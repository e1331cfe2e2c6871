import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@glovebox/seal';
import { formatHead, type Head, type LogPart } from './log';

/**
 * The words of a relay in Redis, proved by the key ring. Without the proofs, a writer of Redis that
 * has no key could leave an entry out, or say that there is none after it.
 */

/** The entries of a part as Postgres had them: versions after `after`, up to `upTo`. */
interface Manifest {
  readonly epoch: string;
  readonly after: number;
  readonly upTo: number;
  readonly entries: readonly (readonly [name: string, version: number])[];
}

export class PartIncomplete extends Error {
  constructor({ after, upTo }: LogPart) {
    super(`Nothing proves that Redis has all versions of the log from ${after} to ${upTo}`);
    this.name = 'PartIncomplete';
  }
}

export function manifestOf(ring: KeyRing, { after, upTo, head, entries }: LogPart): string {
  const manifest: Manifest = {
    epoch: head.epoch,
    after,
    upTo,
    entries: entries.map((entry) => [nameOf(entry), entry.version]),
  };
  const text = JSON.stringify(manifest);
  return `${proofOf(ring, 'part', text)}\n${text}`;
}

/**
 * True if the manifests, in the order of their ends, cover the part without a gap, and the part has
 * all that they name: in that version, or written anew behind its end.
 */
export function isComplete(ring: KeyRing, part: LogPart, manifests: readonly string[]): boolean {
  if (part.upTo === part.after) return true;
  const present = new Map(part.entries.map((entry) => [nameOf(entry), entry.version]));
  const newest = new Map<string, number>();
  let reached = part.after;
  for (const signed of manifests) {
    const manifest = readManifest(ring, signed);
    if (manifest?.epoch !== part.head.epoch || manifest.after > reached) continue;
    reached = Math.max(reached, manifest.upTo);
    for (const [name, version] of manifest.entries) {
      if (version > (newest.get(name) ?? part.after)) newest.set(name, version);
    }
  }
  if (reached < part.upTo) return false;
  return [...newest].every(
    ([name, version]) => version > part.upTo || (present.get(name) ?? 0) >= version,
  );
}

function readManifest(ring: KeyRing, signed: string): Manifest | undefined {
  const at = signed.indexOf('\n');
  const text = signed.slice(at + 1);
  if (!isProven(ring, 'part', text, signed.slice(0, Math.max(at, 0)))) return undefined;
  return JSON.parse(text) as Manifest;
}

/** Proves Postgres's head after the follower drew the ticket. */
export const proofOfAnswer = (ring: KeyRing, answer: Answer): string =>
  proofOf(ring, 'answer', textOf(answer));

export const isAnswerProven = (ring: KeyRing, answer: Answer, proof: string): boolean =>
  isProven(ring, 'answer', textOf(answer), proof);

interface Answer {
  readonly head: Head;
  readonly follower: string;
  readonly ticket: number;
}

const textOf = ({ head, follower, ticket }: Answer): string =>
  `${formatHead(head)} ${follower} ${ticket}`;

/**
 * Postgres refused the writer after the follower drew the ticket. The writer knew of no later
 * version.
 */
interface ProvenRefusal {
  readonly writer: string;
  readonly known: Head;
  readonly follower: string;
  readonly ticket: number;
}

export function proofOfRefusal(ring: KeyRing, refusal: ProvenRefusal): string {
  return `${refusal.known.version} ${proofOf(ring, 'refusal', textOfRefusal(refusal))}`;
}

/** The version that the writer knew of. Undefined: nothing proves it. */
export function versionOfRefusal(
  ring: KeyRing,
  refusal: Omit<ProvenRefusal, 'known'>,
  epoch: string,
  proof: string,
): number | undefined {
  const at = proof.indexOf(' ');
  const version = Number(proof.slice(0, Math.max(at, 0)));
  const text = textOfRefusal({ ...refusal, known: { epoch, version } });
  return isProven(ring, 'refusal', text, proof.slice(at + 1)) ? version : undefined;
}

const textOfRefusal = ({ writer, known, follower, ticket }: ProvenRefusal): string =>
  `${writer} ${formatHead(known)} ${follower} ${ticket}`;

const nameOf = ({ kind, id, tenantId }: { kind: string; id: string; tenantId: string }): string =>
  `${kind}:${id}:${tenantId}`;

/** Makes a proof by each master key of the ring: while one is added or taken out, rings differ. */
function proofOf(ring: KeyRing, purpose: string, text: string): string {
  return [...ring.versions]
    .map((version) => `${version}:${hashOf(ring, version, purpose, text).toString('base64')}`)
    .join(' ');
}

function isProven(ring: KeyRing, purpose: string, text: string, proof: string): boolean {
  return proof.split(' ').some((one) => {
    const [version, hash = ''] = one.split(':');
    if (!ring.versions.has(Number(version))) return false;
    const given = Buffer.from(hash, 'base64');
    const expected = hashOf(ring, Number(version), purpose, text);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function hashOf(ring: KeyRing, version: number, purpose: string, text: string): Buffer {
  return createHmac('sha256', ring.derive(version, `definitions in Redis: ${purpose}`, ''))
    .update(text)
    .digest();
}
