// Types of the code of reactors and transforms.
//
//   /** @type {import('@glovebox/reactor-types').Reactor<{ card: Card }>} */
//   module.exports = async ({ args, configuration, svc }) => ({ raw: {} });

/// <reference path="./reactor-errors.d.ts" />

/** Any JSON. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** The Node.js that runs the code. */
export type Runtime = 'node16' | 'node20' | 'node22' | 'node24';

/** Values by name, as the reactor or proxy has them: always text. */
export type Configuration = Readonly<Record<string, string>>;

export type TokenType =
  | 'token'
  | 'card'
  | 'bank'
  | 'card_number'
  | 'us_bank_routing_number'
  | 'us_bank_account_number'
  | 'social_security_number'
  | 'employer_id_number';

/** A token to store. */
export interface NewToken {
  readonly id?: string;
  readonly type?: TokenType;
  readonly data: unknown;
  readonly containers?: readonly [string];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Where the values may go: hosts, with a port or the beginning of a path. */
  readonly destinations?: readonly string[];
  readonly mask?: unknown;
  readonly search_indexes?: readonly string[];
  readonly fingerprint_expression?: string;
  readonly deduplicate_token?: boolean;
  readonly expires_at?: string;
}

/** A token, as far as the application of the code may see it. */
export interface Token {
  readonly id: string;
  readonly type: string;
  readonly tenant_id: string;
  readonly data?: unknown;
  readonly mask?: unknown;
  readonly containers: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly destinations?: readonly string[];
  readonly fingerprint?: string;
  readonly search_indexes?: readonly string[];
  readonly expires_at?: string;
  readonly created_at: string;
  readonly created_by?: string;
  readonly modified_at?: string;
  readonly modified_by?: string;
}

export interface TokenList {
  readonly pagination: {
    readonly total_items: number;
    readonly page_number: number;
    readonly page_size: number;
    readonly total_pages: number;
    readonly after?: string;
  };
  readonly data: readonly Token[];
}

/** A refused call of `svc` throws this. */
export interface ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  /** The whole answer. */
  readonly data: unknown;
}

/** The vault, as the application of the reactor or proxy. Await each call: it ends with the run. */
export interface Service {
  /** `POST /tokenize` */
  tokenize<Result = unknown>(value: unknown): Promise<Result>;
  /** `POST /detokenize` */
  detokenize<Result = unknown>(value: unknown): Promise<Result>;
  readonly tokens: {
    create(token: NewToken): Promise<Token>;
    retrieve(id: string): Promise<Token>;
    list(query?: {
      readonly id?: string | readonly string[];
      readonly type?: TokenType | readonly TokenType[];
      readonly metadata?: Readonly<Record<string, string>>;
      readonly page?: number;
      readonly size?: number;
      readonly after?: string;
    }): Promise<TokenList>;
    update(
      id: string,
      patch: { readonly [Name in keyof Omit<NewToken, 'id' | 'type'>]?: NewToken[Name] | null },
    ): Promise<Token>;
    delete(id: string): Promise<void>;
  };
}

/** What code gets. `svc` is null without an application. */
export interface Request<Args, HasApplication extends boolean = boolean> {
  readonly args: Args;
  readonly configuration: Configuration;
  readonly svc: HasApplication extends true
    ? Service
    : HasApplication extends false
      ? null
      : Service | null;
}

/** What a reactor answers. `tokenize` is stored, and its ids answered as `tokens`. */
export interface ReactorResult {
  readonly raw?: unknown;
  readonly tokenize?: unknown;
}

export type Reactor<Args = Record<string, any>, HasApplication extends boolean = boolean> = (
  req: Request<Args, HasApplication>,
) => ReactorResult | void | Promise<ReactorResult | void>;

/** Headers by lower-cased name; any spelling finds them. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** The request, as its transform gets it. */
export interface TransformedRequest<Body = any> {
  /** Absent without a body. */
  readonly body?: Body;
  /** Its text as it came. */
  readonly raw_body?: string;
  readonly headers: Headers;
  readonly method: string;
  /** Behind `/proxy`. */
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
}

/** The answer of the destination, as its transform gets it. */
export interface TransformedAnswer<Body = any> {
  readonly body?: Body;
  readonly raw_body?: string;
  readonly headers: Headers;
  readonly status: number;
}

/** What a transform makes: these headers and no others. */
export interface TransformResult {
  readonly headers?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body?: unknown;
}

export type RequestTransform<Body = any, HasApplication extends boolean = boolean> = (
  req: Request<TransformedRequest<Body>, HasApplication>,
) => TransformResult | Promise<TransformResult>;

export type ResponseTransform<Body = any, HasApplication extends boolean = boolean> = (
  req: Request<TransformedAnswer<Body>, HasApplication>,
) => AnswerResult | Promise<AnswerResult>;

export interface AnswerResult extends TransformResult {
  /** From 200 to 599. That of the destination by default. */
  readonly status?: number;
}
