import { Readable } from 'node:stream';
import type { CaptureDefinition } from '@glovebox/definitions';
import type { NamedValue } from '@glovebox/reactors';
import type { OutgoingBody } from '../connection/request-body';
import type { InvokedProxy } from '../call/caller';
import type { Call, Ending } from '../observing/call';
import type { ProxiedRequest, RequestHead } from '../proxy/fill-in';
import { KeptBody } from './kept-body';

/** Characters of the values of one call that are looked for in its messages. */
const knownCharactersMax = 256 * 1024;

export interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: KeptBody;
}

export interface KeptRequest extends RequestHead {
  readonly body: KeptBody | undefined;
}

/** What of a call is noted while it goes on. Nothing here waits, and nothing throws. */
export class Capture {
  sentRequest: KeptRequest | undefined;
  receivedAnswer: KeptAnswer | undefined;
  madeAnswer: KeptAnswer | undefined;
  readonly requestBody = new KeptBody();
  readonly receivedBody = new KeptBody();
  status: number | undefined;
  code: string | undefined;
  host: string | undefined;
  readonly ids = new Set<string>();
  readonly sources = new Set<string>();
  #made: NamedValue[] = [];
  #data: NamedValue[] = [];
  #charactersLeft = knownCharactersMax;

  constructor(
    readonly definition: CaptureDefinition,
    readonly proxy: InvokedProxy,
    readonly call: Pick<Call, 'method' | 'traceId'>,
    readonly head: RequestHead,
    private readonly ended: (capture: Capture) => void,
  ) {}

  /**
   * What was put in, with its expression, and then the data that it was made of. Undefined: more than
   * is looked for.
   */
  get values(): readonly NamedValue[] | undefined {
    return this.#charactersLeft < 0 ? undefined : [...this.#made, ...this.#data];
  }

  filledIn(source: string, value: unknown): void {
    this.sources.add(source.trim());
    this.#note(this.#made, source, value);
  }

  opened(values: ReadonlyMap<string, unknown>): void {
    for (const [id, value] of values) {
      this.ids.add(id);
      this.#note(this.#data, id, value);
    }
  }

  /** Returns the body to send, whose bytes are noted as they go. */
  sent({ suffix, query, headers, body }: ProxiedRequest): OutgoingBody {
    const kept = body === null ? undefined : new KeptBody();
    this.sentRequest = { suffix, query, headers: [...headers], body: kept };
    if (body === null || !kept) return body;
    if (!('open' in body)) {
      for (const part of Buffer.isBuffer(body) ? [body] : body) kept.add(part);
      return body;
    }
    return {
      length: body.length,
      open: (beforePart) => {
        const { caller, stream } = body.open(beforePart);
        return { caller, stream: Readable.from(seen(stream, kept), { objectMode: false }) };
      },
    };
  }

  received(status: number, headers: readonly string[]): void {
    this.receivedAnswer = { status, headers: [...headers], body: this.receivedBody };
  }

  answered(status: number, headers: readonly string[], body: Buffer | null): void {
    const kept = new KeptBody();
    if (body) kept.add(body);
    this.madeAnswer = { status, headers: [...headers], body: kept };
  }

  end({ problem, destinationHost }: Call, { status }: Ending): void {
    this.status = status;
    this.code = problem?.code;
    this.host = destinationHost;
    this.ended(this);
  }

  #note(values: NamedValue[], name: string, value: unknown): void {
    if (this.#charactersLeft < 0) return;
    this.#charactersLeft -= typeof value === 'string' ? value.length : lengthOf(value);
    if (this.#charactersLeft >= 0) return void values.push({ name, value });
    this.#made = [];
    this.#data = [];
  }
}

const lengthOf = (value: unknown): number =>
  (JSON.stringify(value) as string | undefined)?.length ?? 0;

async function* seen(stream: AsyncIterable<Buffer>, kept: KeptBody): AsyncGenerator<Buffer> {
  for await (const part of stream) {
    kept.add(part);
    yield part;
  }
}
