import {
  openWithRing,
  sealWithRing,
  UnknownSealFormat,
  type KeyRing,
  type Place,
} from '@glovebox/seal';
import { readerVersion } from '@glovebox/database';
import type { ApplicationDefinition, Definition, ProxyDefinition } from './definition';
import { unknownVersion, versionNeeded } from './reader-versions';

/**
 * The shape of every payload, of all releases. An older reader looks at `v` and, where it is too
 * old for the definition, at `recognise`: neither may ever mean anything else. The first release
 * wrote no `recognise`.
 */
interface Payload {
  /** The lowest version of a reader that understands all of the definition. */
  readonly v: number;
  readonly recognise: {
    /** The hashes of the keys that belong to it. */
    readonly keys: readonly string[];
  };
  readonly definition: Definition;
}

/** A definition holds what this process is too old for. */
export class NewerDefinition extends Error {
  constructor(
    readonly keyHashes: readonly string[],
    /** The version that it needs. Null: it says that this process could read it. */
    readonly needed: number | null = null,
  ) {
    super(
      `A definition needs a newer reader than this process, which has version ${readerVersion}`,
    );
    this.name = 'NewerDefinition';
  }
}

/** Seals by the ring, so that a process can follow the log while Postgres is away. */
export function sealDefinition(ring: KeyRing, version: number, definition: Definition): Buffer {
  const v = versionNeeded(definition);
  // A reader of this very release would refuse it.
  if (v === unknownVersion)
    throw new Error(`A ${definition.kind} holds what has no reader version`);
  const payload: Payload = { v, recognise: { keys: keyHashesOf(definition) }, definition };
  return sealWithRing(ring, version, placeOf(definition), JSON.stringify(payload));
}

/** Seals the same bytes by another master key, also those of a payload of a later release. */
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

/** A payload that is damaged is not newer, and may be replaced. */
export function isNewer(ring: KeyRing, entry: Parameters<typeof openDefinition>[1]): boolean {
  try {
    openDefinition(ring, entry);
    return false;
  } catch (error) {
    return isTooNew(error);
  }
}

/** Whether opening a payload failed because a newer release wrote it. */
export const isTooNew = (error: unknown): error is NewerDefinition | UnknownSealFormat =>
  error instanceof NewerDefinition || error instanceof UnknownSealFormat;

/** Parses a definition from text that this product wrote and authenticated. No other place does. */
export function parseDefinition(text: string): Definition {
  const { v, recognise, definition } = JSON.parse(text) as Omit<Payload, 'recognise'> &
    Partial<Pick<Payload, 'recognise'>>;
  // A slip of a later release must stop its own definition alone.
  const keys = Array.isArray(recognise?.keys) ? recognise.keys : [];
  if (!(v <= readerVersion)) throw new NewerDefinition(keys, v);
  // Its writer has put in what no reader of this version knows: none may skip it.
  if (versionNeeded(definition) > readerVersion) throw new NewerDefinition(keys);
  if (definition.kind === 'proxy') return completedProxy(definition);
  return definition.kind === 'application' ? completedApplication(definition) : definition;
}

function keyHashesOf(definition: Definition): readonly string[] {
  if (definition.kind === 'proxy') return [definition.keyHash];
  return definition.kind === 'application' ? definition.keys.map(({ hash }) => hash) : [];
}

type Lacking<Whole, Later extends keyof Whole> = Omit<Whole, Later> & Partial<Pick<Whole, Later>>;

// Each adds the members that an old payload lacks.

function completedProxy(
  proxy: Lacking<
    ProxyDefinition,
    'tls' | 'requestSteps' | 'responseSteps' | 'allowedOrigins' | 'match' | 'forwardTo'
  >,
): ProxyDefinition {
  const { tls = null, requestSteps = [], responseSteps = [], allowedOrigins = [] } = proxy;
  const { match = null, forwardTo = null } = proxy;
  return { ...proxy, tls, requestSteps, responseSteps, allowedOrigins, match, forwardTo };
}

function completedApplication(
  application: Lacking<ApplicationDefinition, 'allowedOrigins'>,
): ApplicationDefinition {
  const { allowedOrigins = [] } = application;
  return { ...application, allowedOrigins };
}

function placeOf(entry: { kind: string; id: string; tenantId: string }): Place {
  return {
    table: 'definition_log',
    column: entry.kind,
    tenantId: entry.tenantId,
    record: entry.id,
  };
}
