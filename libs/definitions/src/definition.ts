import type { AccessRule, ApplicationType, Permission } from '@glovebox/access';

export type Runtime = 'node16' | 'node20';
export type Isolation = 'warm' | 'run';
export type ParameterType = 'string' | 'number' | 'boolean' | 'object';

export interface TenantDefinition {
  readonly kind: 'tenant';
  readonly id: string;
  readonly tenantId: string;
  readonly settings: Readonly<Record<string, string>>;
  /** `whsec_…`, the newest first; a rotated one signs along until its time. */
  readonly webhookSecrets: readonly { readonly secret: string; readonly until: string | null }[];
}

export interface ApplicationDefinition {
  readonly kind: 'application';
  readonly id: string;
  readonly tenantId: string;
  readonly type: ApplicationType;
  readonly permissions: readonly Permission[];
  readonly rules: readonly AccessRule[];
  readonly expiresAt: string | null;
  readonly keys: readonly { readonly id: string; readonly hash: string }[];
}

export interface RequestParameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly optional: boolean;
}

export interface FormulaDefinition {
  readonly kind: 'formula';
  readonly id: string;
  readonly tenantId: string;
  readonly code: string;
  readonly codeHash: string;
  readonly runtime: Runtime;
  readonly requestParameters: readonly RequestParameter[];
}

export interface ReactorDefinition {
  readonly kind: 'reactor';
  readonly id: string;
  readonly tenantId: string;
  readonly formulaId: string;
  readonly applicationId: string | null;
  readonly configuration: Readonly<Record<string, string>>;
  readonly isolation: Isolation;
}

export interface TransformDefinition {
  readonly code: string;
  readonly codeHash: string;
  readonly runtime: Runtime;
}

/** PEM. The authority takes the place of the public ones; certificate and key come together. */
export interface TlsDefinition {
  readonly certificate: string | null;
  readonly privateKey: string | null;
  readonly authority: string | null;
}

export interface ProxyDefinition {
  readonly kind: 'proxy';
  readonly id: string;
  readonly tenantId: string;
  readonly keyHash: string;
  readonly destinationUrl: string;
  readonly requireAuth: boolean;
  readonly detokenize: boolean;
  readonly requestTransform: TransformDefinition | null;
  readonly responseTransform: TransformDefinition | null;
  readonly applicationId: string | null;
  readonly configuration: Readonly<Record<string, string>>;
  readonly isolation: Isolation;
  readonly timeoutMs: number | null;
  /** What connections to the destination are made with, beyond the defaults. */
  readonly tls: TlsDefinition | null;
}

/** What a resource is at run time: all that the data plane needs of it, and nothing else. */
export type Definition =
  | TenantDefinition
  | ApplicationDefinition
  | FormulaDefinition
  | ReactorDefinition
  | ProxyDefinition;

export type DefinitionKind = Definition['kind'];
export type DefinitionOf<Kind extends DefinitionKind> = Extract<Definition, { kind: Kind }>;
