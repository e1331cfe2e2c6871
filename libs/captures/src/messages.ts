/** A body as it is kept: its shape, or with `whole` its text. */
export interface CapturedBody {
  /** The media type, where it is a known one. */
  readonly type?: string;
  readonly format: 'json' | 'form' | 'text' | 'multipart' | 'encoded' | 'binary';
  /** Of the whole body. */
  readonly bytes: number;
  readonly text?: string;
  /** Only the beginning is there. */
  readonly cut?: true;
}

interface CapturedMessage {
  /** Names and shapes of values, in their order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: CapturedBody;
}

export interface CapturedRequest extends CapturedMessage {
  readonly method: string;
  /** Behind `/proxy`. */
  readonly path: string;
  readonly query?: string;
  readonly host?: string;
}

export interface CapturedAnswer extends CapturedMessage {
  readonly status: number;
}

/** The messages of one call, as they are sealed. */
export interface CapturedMessages {
  /** As the caller sent it. */
  readonly request: CapturedRequest;
  /** As it left for the destination. */
  readonly sent?: CapturedRequest;
  /** As the destination answered. */
  readonly received?: CapturedAnswer;
  /** As the caller got it, where it was made here. */
  readonly answer?: CapturedAnswer;
}
