import type { TlsDefinition, TransformStep } from '@glovebox/definitions';
import type { Isolation, Runtime } from '@glovebox/sandbox';
import { ApplicationReference } from '../applications/applications.dto';
import { configurationBytesMax, type Configuration } from '../code/configuration';
import { Code, RuntimeName } from '../code/code-members';
import { requestSteps, responseSteps } from '../openapi/transform-steps';
import { toStamps, type Answer, type Stamps } from '../changes/created-and-modified';
import { Flag, Json, Nested, OneOf, StringMap, Text, Whole, nameMax } from '../validation/fields';
import type { Proxy, TransformEntry } from '../entities/proxy.entity';
import type { Steps } from './transform-steps';

export class TransformInput {
  @Code()
  code!: string;

  @RuntimeName()
  runtime?: Runtime;
}

/** Of a certificate with the intermediate ones behind it, and of its key. */
export const pemMax = 50_000;
export const authorityPemMax = 200_000;
export const destinationUrlMax = 2_000;

const Pem = (): PropertyDecorator => Text({ max: pemMax });

export class ClientCertificateInput {
  /** With the intermediate ones behind it, where there are any. */
  @Pem()
  certificate!: string;

  @Pem()
  private_key!: string;
}

/** The document of a create and of a full update. */
export class ProxyInput {
  @Text({ max: nameMax })
  name!: string;

  // Paths are appended to it.
  @Text({ max: destinationUrlMax, pattern: /^[^#]*$/, must: 'must not contain a fragment' })
  destination_url!: string;

  @Nested(() => TransformInput, { optional: true })
  request_transform?: TransformInput;

  @Nested(() => TransformInput, { optional: true })
  response_transform?: TransformInput;

  /** The shape alone: of each kind of step `toSteps` says what it may be. */
  @Json({ optional: true, schema: requestSteps })
  request_transforms?: unknown;

  @Json({ optional: true, schema: responseSteps })
  response_transforms?: unknown;

  @Nested(() => ApplicationReference, { optional: true })
  application?: ApplicationReference;

  @StringMap({ scalars: true, bytesMax: configurationBytesMax, optional: true })
  configuration?: Record<string, string | number | boolean>;

  @Flag({ optional: true })
  require_auth?: boolean;

  @Flag({ optional: true })
  detokenize?: boolean;

  @OneOf(['warm', 'run'], { optional: true })
  isolation?: Isolation;

  @Whole({ min: 1_000, max: 210_000, optional: true })
  timeout_ms?: number;

  @Nested(() => ClientCertificateInput, { optional: true })
  client_certificate?: ClientCertificateInput;

  @Text({ max: authorityPemMax, optional: true })
  certificate_authority?: string;
}

export interface ProxyResponse extends Stamps {
  id: string;
  key: string;
  name: string;
  destination_url: string;
  tenant_id: string;
  require_auth: boolean;
  detokenize: boolean;
  request_transform?: TransformResponse;
  response_transform?: TransformResponse;
  request_transforms?: readonly TransformStep[];
  response_transforms?: readonly TransformStep[];
  application_id?: string;
  configuration?: Configuration;
  isolation: Isolation;
  timeout_ms?: number;
  /** The private key is never shown again. */
  client_certificate?: { certificate: string };
  certificate_authority?: string;
}

/** What is sealed in the row. */
export interface OpenedColumns {
  readonly key: string;
  readonly configuration: Configuration | null;
  readonly tls: TlsDefinition | null;
  readonly steps: Steps;
}

interface TransformResponse {
  code: string;
  runtime?: Runtime;
}

/** A document that a PUT would take to leave the proxy as it is: it ignores what is not its own. */
export function toProxyInput(row: Proxy, opened: OpenedColumns) {
  const {
    application_id: id,
    client_certificate: client,
    ...members
  } = toProxyResponse(row, opened, 'read');
  return {
    ...members,
    application: id === undefined ? undefined : { id },
    client_certificate: client && { ...client, private_key: opened.tls?.privateKey },
  };
}

export function toProxyResponse(row: Proxy, opened: OpenedColumns, answer: Answer): ProxyResponse {
  return {
    id: row.id,
    key: opened.key,
    name: row.name,
    destination_url: row.destinationUrl,
    tenant_id: row.tenantId,
    require_auth: row.requireAuth,
    detokenize: row.detokenize,
    ...(row.requestTransform ? { request_transform: toTransform(row.requestTransform) } : {}),
    ...(row.responseTransform ? { response_transform: toTransform(row.responseTransform) } : {}),
    ...toStepMembers(opened.steps),
    ...(row.applicationId ? { application_id: row.applicationId } : {}),
    ...(opened.configuration ? { configuration: opened.configuration } : {}),
    isolation: row.isolation,
    ...(row.timeoutMs === null ? {} : { timeout_ms: row.timeoutMs }),
    ...(opened.tls ? toTlsMembers(opened.tls) : {}),
    ...toStamps(row, answer),
  };
}

function toStepMembers({
  requestSteps,
  responseSteps,
}: Steps): Pick<ProxyResponse, 'request_transforms' | 'response_transforms'> {
  return {
    ...(requestSteps.length > 0 ? { request_transforms: requestSteps } : {}),
    ...(responseSteps.length > 0 ? { response_transforms: responseSteps } : {}),
  };
}

function toTlsMembers({
  certificate,
  authority,
}: TlsDefinition): Pick<ProxyResponse, 'client_certificate' | 'certificate_authority'> {
  return {
    ...(certificate === null ? {} : { client_certificate: { certificate } }),
    ...(authority === null ? {} : { certificate_authority: authority }),
  };
}

function toTransform({ code, runtime }: TransformEntry): TransformResponse {
  return { code, ...(runtime === undefined ? {} : { runtime }) };
}
