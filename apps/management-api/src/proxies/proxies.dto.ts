import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { TlsDefinition, TransformStep } from '@glovebox/definitions';
import { chosenUrlMax } from '@glovebox/egress';
import type { Isolation, Runtime } from '@glovebox/sandbox';
import { ActingInput } from '../applications/applications.dto';
import { configurationBytesMax, type Configuration } from '../code/configuration';
import { Code, CodeSha256, RuntimeName, toEndOfLife } from '../code/code-members';
import type { CodeMembers } from '../code/stored-code';
import { toStamps, type Answer, type Stamps } from '../changes/created-and-modified';
import { AllowedOrigins } from '../validation/allowed-origins';
import {
  IsAnyJson,
  IsStringMap,
  NoneWithout,
  TextLength,
  WithoutNul,
} from '../validation/decorators';
import { nameMax } from '../validation/resource-limits';
import type { Proxy, TransformEntry } from '../entities/proxy.entity';
import { MatchInput, type StoredMatch } from './proxy-match';
import type { Steps } from './transform-steps';

export class TransformInput {
  @Code()
  code?: string;

  /** Of a bundle, in the place of code. */
  @CodeSha256()
  code_sha256?: string;

  @RuntimeName()
  runtime?: Runtime;
}

/** Characters of a certificate with its intermediate ones, and of its key. */
const pemMax = 50_000;
const authorityPemMax = 200_000;

const Pem = (): PropertyDecorator =>
  applyDecorators(IsString(), TextLength(1, pemMax), WithoutNul());

class ClientCertificateInput {
  /** Intermediate certificates may follow it. */
  @Pem()
  certificate!: string;

  /** May be left out beside the certificate that is stored: its key is kept. */
  @IsOptional()
  @Pem()
  private_key?: string;
}

/** The document of a create and of a full update. */
export class ProxyInput extends ActingInput {
  @IsString()
  @TextLength(1, nameMax)
  @WithoutNul()
  name!: string;

  @IsString()
  @TextLength(1, chosenUrlMax)
  @WithoutNul()
  // Calls append their path.
  @Matches(/^[^#]*$/, { message: 'must not contain a fragment' })
  destination_url!: string;

  @IsOptional()
  @NoneWithout('code', 'code_sha256')
  @IsObject()
  @ValidateNested()
  @Type(() => TransformInput)
  request_transform?: TransformInput;

  @IsOptional()
  @NoneWithout('code', 'code_sha256')
  @IsObject()
  @ValidateNested()
  @Type(() => TransformInput)
  response_transform?: TransformInput;

  /** `toSteps` reads it: the members of a step depend on its type and location. */
  @IsOptional()
  @IsAnyJson()
  request_transforms?: unknown;

  @IsOptional()
  @IsAnyJson()
  response_transforms?: unknown;

  @IsOptional()
  @IsStringMap({ scalars: true, bytesMax: configurationBytesMax })
  configuration?: Record<string, string | number | boolean>;

  @IsOptional()
  @IsBoolean()
  require_auth?: boolean;

  @IsOptional()
  @IsBoolean()
  detokenize?: boolean;

  @IsOptional()
  @IsIn(['warm', 'run'])
  isolation?: Isolation;

  @IsOptional()
  @IsInt()
  @Min(1_000)
  @Max(210_000)
  timeout_ms?: number;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ClientCertificateInput)
  client_certificate?: ClientCertificateInput;

  @IsOptional()
  @IsString()
  @TextLength(1, authorityPemMax)
  @WithoutNul()
  certificate_authority?: string;

  @IsOptional()
  @IsBoolean()
  scrub?: boolean;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => MatchInput)
  match?: MatchInput;

  /** Only with `match`. */
  @IsOptional()
  @IsIn(['request'])
  forward_to?: 'request';

  /** Only with `require_auth: false`. */
  @IsOptional()
  @AllowedOrigins()
  allowed_origins?: string[];
}

export interface ProxyResponse extends Stamps {
  id: string;
  key: string;
  name: string;
  slug?: string;
  destination_url: string;
  tenant_id: string;
  require_auth: boolean;
  detokenize: boolean;
  scrub?: true;
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
  allowed_origins?: string[];
  match?: StoredMatch;
  forward_to?: 'request';
}

/** The sealed columns of a row, opened. */
export interface OpenedColumns {
  readonly key: string;
  readonly configuration: Configuration | null;
  readonly tls: TlsDefinition | null;
  readonly steps: Steps;
}

interface TransformResponse extends CodeMembers {
  runtime?: Runtime;
  runtime_end_of_life?: string;
}

/** The document that would leave the proxy as it is, but for its application. */
export function toProxyInput(row: Proxy, { configuration, tls, steps }: OpenedColumns) {
  return {
    name: row.name,
    destination_url: row.destinationUrl,
    request_transform: row.requestTransform,
    response_transform: row.responseTransform,
    request_transforms: steps.requestSteps,
    response_transforms: steps.responseSteps,
    configuration,
    require_auth: row.requireAuth,
    detokenize: row.detokenize,
    scrub: row.scrub,
    isolation: row.isolation,
    timeout_ms: row.timeoutMs,
    client_certificate: tls?.certificate
      ? { certificate: tls.certificate, private_key: tls.privateKey }
      : null,
    certificate_authority: tls?.authority,
    allowed_origins: row.allowedOrigins,
    match: row.match,
    forward_to: row.forwardTo,
  };
}

export function toProxyResponse(row: Proxy, opened: OpenedColumns, answer: Answer): ProxyResponse {
  return {
    id: row.id,
    key: opened.key,
    name: row.name,
    ...(row.slug === null ? {} : { slug: row.slug }),
    destination_url: row.destinationUrl,
    tenant_id: row.tenantId,
    require_auth: row.requireAuth,
    detokenize: row.detokenize,
    ...(row.scrub ? { scrub: true } : {}),
    ...(row.requestTransform ? { request_transform: toTransform(row.requestTransform) } : {}),
    ...(row.responseTransform ? { response_transform: toTransform(row.responseTransform) } : {}),
    ...toStepMembers(opened.steps),
    ...(row.applicationId ? { application_id: row.applicationId } : {}),
    ...(opened.configuration ? { configuration: opened.configuration } : {}),
    isolation: row.isolation,
    ...(row.timeoutMs === null ? {} : { timeout_ms: row.timeoutMs }),
    ...(opened.tls ? toTlsMembers(opened.tls) : {}),
    ...(row.allowedOrigins.length > 0 ? { allowed_origins: row.allowedOrigins } : {}),
    ...(row.match ? { match: row.match } : {}),
    ...(row.forwardTo ? { forward_to: row.forwardTo } : {}),
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

function toTransform({ runtime, ...code }: TransformEntry): TransformResponse {
  return { ...code, ...(runtime === undefined ? {} : { runtime }), ...toEndOfLife(runtime) };
}
