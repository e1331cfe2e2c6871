import type { Isolation, Runtime } from '@glovebox/sandbox';
import type { AccessRule, ApplicationType, Permission } from '@glovebox/access';

export type ParameterType = 'string' | 'number' | 'boolean' | 'object';

export interface TenantDefinition {
  readonly kind: 'tenant';
  readonly id: string;
  readonly tenantId: string;
  readonly settings: Readonly<Record<string, string>>;
  /** `whsec_…`, the newest first. A rotated one signs too, until its time. */
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
  /** Pages of these origins alone may use its keys. Empty: no page may read what it is answered. */
  readonly allowedOrigins: readonly string[];
  readonly keys: readonly { readonly id: string; readonly hash: string }[];
}

export interface RequestParameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly optional: boolean;
  /** What came in plain here may stand in logs. Old payloads lack it: nothing may. */
  readonly loggable?: boolean;
}

/** Code that is run. Every process holds it, unless it is a bundle. */
export interface RunnableCode {
  /** Empty where it is a bundle. */
  readonly code: string;
  readonly codeHash: string;
  /** The SHA-256 of a text that is too large to be held, and is read when a runner lacks it. */
  readonly bundleHash?: string;
  readonly runtime: Runtime;
}

export interface FormulaDefinition extends RunnableCode {
  readonly kind: 'formula';
  readonly id: string;
  readonly tenantId: string;
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

export type TransformDefinition = RunnableCode;

/** The members of `POST /tokens` in a step, without `id` and `data`. */
export interface StepToken {
  readonly type: string;
  readonly containers?: readonly string[];
  readonly mask?: unknown;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly destinations?: readonly string[];
  readonly search_indexes?: readonly string[];
  readonly fingerprint_expression?: string;
  readonly deduplicate_token?: boolean;
  readonly expires_at?: string;
}

/** Where a step works. JSONPath. */
interface StepPath {
  readonly path: string;
  /** The call ends where the path matches nothing. */
  readonly required?: true;
}

/** One change of a message without code, as the customer wrote it. */
export type TransformStep =
  | {
      readonly type: 'mask';
      readonly options: StepPath & { readonly expression: string };
    }
  | {
      readonly type: 'tokenize';
      readonly options: StepPath & { readonly token: StepToken };
    }
  | {
      readonly type: 'detokenize';
      readonly options: StepPath & { readonly enabled: false };
    }
  | {
      readonly type: 'append';
      readonly options:
        | {
            readonly location: 'header' | 'query';
            readonly name: string;
            readonly value: string;
          }
        | (StepPath & { readonly location: 'body'; readonly value: unknown });
    }
  | {
      readonly type: 'remove';
      readonly options:
        | { readonly location: 'header' | 'query'; readonly name: string }
        | (StepPath & { readonly location: 'body' });
    };

/** True if the call ends where the path of the step matches nothing. */
export const isRequired = ({ options }: TransformStep): boolean =>
  'required' in options && options.required === true;

/** PEM. The authority replaces the public ones. Certificate and key come together. */
export interface TlsDefinition {
  readonly certificate: string | null;
  readonly privateKey: string | null;
  readonly authority: string | null;
}

/** The requests of forward mode that a proxy handles. */
export interface ProxyMatch {
  /** `host`, `*.host`, either with `:port`; normalised. */
  readonly hosts: readonly string[];
  /** Empty: all. */
  readonly methods: readonly string[];
  /** Beginnings of paths, by whole segments. Empty: all. */
  readonly paths: readonly string[];
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
  /** Steps before the request transform. */
  readonly requestSteps: readonly TransformStep[];
  /** Steps after the response transform. */
  readonly responseSteps: readonly TransformStep[];
  readonly applicationId: string | null;
  readonly configuration: Readonly<Record<string, string>>;
  readonly isolation: Isolation;
  readonly timeoutMs: number | null;
  /** TLS settings of connections to the destination, beyond the defaults. */
  readonly tls: TlsDefinition | null;
  /** Pages of these origins alone may call it. Empty: the destination decides. */
  readonly allowedOrigins: readonly string[];
  /** What a call has put in is taken out of its answer. Old payloads lack it. */
  readonly scrub?: true;
  /** Null: it takes part in no forward mode. */
  readonly match: ProxyMatch | null;
  /** What it matches goes to the origin that the request names. Null: to `destinationUrl`. */
  readonly forwardTo: 'request' | null;
}

/** The shapes of a proxy's calls are kept until a time. Its id is that of the proxy. */
export interface CaptureDefinition {
  readonly kind: 'capture';
  readonly id: string;
  readonly tenantId: string;
  readonly until: string;
  /** Whole texts are kept, as far as the setting of the tenant allows it. */
  readonly whole: boolean;
}

/** Signs the certificates that a tenant's clients see in forward mode. Its id is that of the tenant. */
export interface AuthorityDefinition {
  readonly kind: 'authority';
  readonly id: string;
  readonly tenantId: string;
  /** PEM. The newest first; one with a time signs until then, and the ones before it wait. */
  readonly authorities: readonly ForwardAuthority[];
}

export interface ForwardAuthority {
  readonly certificate: string;
  readonly privateKey: string;
  readonly until: string | null;
}

/** A resource at run time: all that the data plane needs of it, and nothing else. */
export type Definition =
  | TenantDefinition
  | ApplicationDefinition
  | FormulaDefinition
  | ReactorDefinition
  | ProxyDefinition
  | CaptureDefinition
  | AuthorityDefinition;

export type DefinitionKind = Definition['kind'];
export type DefinitionOf<Kind extends DefinitionKind> = Extract<Definition, { kind: Kind }>;
