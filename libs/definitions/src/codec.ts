import { openWithRing, sealWithRing, type KeyRing, type Place } from '@glovebox/seal';
import {
  isRequired,
  type ApplicationDefinition,
  type Definition,
  type ProxyDefinition,
} from './definition';

/**
 * The version of the payload's shape. A change that old readers would misread raises it. Each
 * payload has the lowest that it needs, so that older processes read all but those with the change.
 */
const payloadVersions = { first: 1, requiredSteps: 2 } as const;
const readable: readonly unknown[] = Object.values(payloadVersions);

export class UnknownPayloadVersion extends Error {
  constructor(version: unknown) {
    super(
      `A definition has the payload version ${String(version)}, which this process is too old for`,
    );
    this.name = 'UnknownPayloadVersion';
  }
}

/** Seals by the ring, so that a process can follow the log while Postgres is away. */
export function sealDefinition(ring: KeyRing, version: number, definition: Definition): Buffer {
  const payload = JSON.stringify({ v: versionOf(definition), definition });
  return sealWithRing(ring, version, placeOf(definition), payload);
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

/** Parses a definition from text that this product wrote and authenticated. No other place does. */
export function parseDefinition(text: string): Definition {
  const { v, definition } = JSON.parse(text) as { v: unknown; definition: Definition };
  if (!readable.includes(v)) throw new UnknownPayloadVersion(v);
  if (definition.kind === 'proxy') return completedProxy(definition);
  return definition.kind === 'application' ? completedApplication(definition) : definition;
}

/** An older process would run a required step as one that may be skipped. */
function versionOf(definition: Definition): number {
  const steps =
    definition.kind === 'proxy' ? [...definition.requestSteps, ...definition.responseSteps] : [];
  return steps.some(isRequired) ? payloadVersions.requiredSteps : payloadVersions.first;
}

type Lacking<Whole, Later extends keyof Whole> = Omit<Whole, Later> & Partial<Pick<Whole, Later>>;

// Each adds the members that an old payload lacks.

function completedProxy(
  proxy: Lacking<ProxyDefinition, 'tls' | 'requestSteps' | 'responseSteps' | 'allowedOrigins'>,
): ProxyDefinition {
  const { tls = null, requestSteps = [], responseSteps = [], allowedOrigins = [] } = proxy;
  return { ...proxy, tls, requestSteps, responseSteps, allowedOrigins };
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
