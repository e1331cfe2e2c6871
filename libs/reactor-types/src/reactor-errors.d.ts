/** The errors that code may throw. Each sets the status of the answer. */
declare module '@svc/reactor-errors' {
  type Errors = string | readonly unknown[] | Error | Readonly<Record<string, unknown>>;

  export class ReactorError extends Error {
    constructor(errors?: Errors);
    readonly errors: Errors | undefined;
  }
  /** 400 */
  export class BadRequestError extends ReactorError {}
  /** 400 */
  export class InvalidReactorConfigurationError extends ReactorError {}
  /** 401 */
  export class AuthenticationError extends ReactorError {}
  /** 402 */
  export class InvalidPaymentMethodError extends ReactorError {}
  /** 403 */
  export class AuthorizationError extends ReactorError {}
  /** 429 */
  export class RateLimitError extends ReactorError {}
  /** 500 */
  export class ReactorRuntimeError extends ReactorError {}
  /** 503 */
  export class ServiceUnavailableError extends ReactorError {}

  /** In a transform the answer itself; in a reactor an error of this status. */
  export class CustomHttpResponseError extends Error {
    constructor(answer: {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    });
    readonly status: number | undefined;
    readonly headers: Readonly<Record<string, string>> | undefined;
    readonly body: unknown;
  }
}
