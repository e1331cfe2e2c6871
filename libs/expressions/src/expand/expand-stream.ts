import { Problem } from '@glovebox/problems';
import type { Budget, Tally } from '../bounds/limits';
import { inSlices, nextSlice, type Work } from '../bounds/time-slices';
import { formSyntax, overBytes } from '../scan/encoded-syntax';
import { JsonStringScanner } from '../scan/json-string-scanner';
import { plainSyntax, SpanScanner } from '../scan/span-scanner';
import type { Piece, Scanner } from '../scan/template-pieces';
import { renderEach, writeEncoded, writeJson, writeText, type Values, type Write } from './render';
import { templateFrom, tokenIdsOf, type Template } from './template';

export type BodyContext = 'json' | 'form' | 'text';

export interface StreamOptions {
  readonly context: BodyContext;
  readonly tally: Tally;
  readonly budget: Budget;
  /** Called once for each batch that holds expressions, with the tokens of that batch. */
  resolve(tokenIds: readonly string[]): Promise<Values>;
}

/** Bytes that are read before their expressions are resolved together. */
const batchBytesMax = 64 * 1024;

/**
 * Replaces the expressions of a body as its bytes come. Memory holds one batch, the values for it,
 * and the 4 KB that an expression may still need.
 */
export async function* expandStream(
  source: AsyncIterable<Buffer>,
  options: StreamOptions,
): AsyncGenerator<Buffer, void, undefined> {
  const medium = mediumOf(options);
  let batch: Piece[] = [];
  let batchBytes = 0;
  for await (const chunk of source) {
    for (const part of partsOf(chunk)) {
      await nextSlice();
      batch.push(...medium.scanner.write(medium.decode(part), false));
      batchBytes += part.length;
      const isWaiting =
        batchBytes < batchBytesMax && batch.some((piece) => typeof piece !== 'string');
      if (isWaiting || batch.length === 0) continue;
      yield await expand(batch, medium, options);
      batch = [];
      batchBytes = 0;
    }
  }
  batch.push(...medium.scanner.write(medium.decode(null), true));
  if (batch.length > 0) yield await expand(batch, medium, options);
}

/** Reads a whole body. All its tokens are known before any is looked up. */
export function* bodyTemplate(
  body: Buffer,
  context: BodyContext,
  tally: Tally,
): Work<Template<Buffer>> {
  const medium = mediumOf({ context, tally });
  const pieces: Piece[] = [];
  for (const part of partsOf(body)) {
    for (const piece of medium.scanner.write(medium.decode(part), false)) pieces.push(piece);
    yield;
  }
  for (const piece of medium.scanner.write(medium.decode(null), true)) pieces.push(piece);
  return templateFrom(tokenIdsOf(pieces), (values, budget) =>
    render(pieces, values, medium, budget),
  );
}

interface Medium {
  readonly scanner: Scanner;
  readonly write: Write;
  /** The encoding of the scanned text. */
  readonly encoding: 'utf8' | 'latin1';
  /** Null at the end. */
  decode(bytes: Buffer | null): string;
}

/**
 * JSON is UTF-8. Text and forms need not be: they are read byte by byte, and other bytes stay as
 * they are.
 */
function mediumOf({ context, tally }: Pick<StreamOptions, 'context' | 'tally'>): Medium {
  if (context === 'json') {
    return {
      scanner: new JsonStringScanner(tally),
      write: writeJson,
      encoding: 'utf8',
      decode: strictUtf8(),
    };
  }
  const syntax = overBytes(context === 'form' ? formSyntax : plainSyntax);
  return {
    scanner: new SpanScanner(syntax, tally),
    write: context === 'form' ? writeEncoded : writeText,
    encoding: 'latin1',
    decode: (bytes) => bytes?.toString('latin1') ?? '',
  };
}

function strictUtf8(): (bytes: Buffer | null) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw new Problem('invalid_json', { detail: 'The body is not valid UTF-8.' });
    }
  };
}

function* partsOf(chunk: Buffer): Generator<Buffer> {
  for (let at = 0; at < chunk.length; at += batchBytesMax) {
    yield chunk.subarray(at, at + batchBytesMax);
  }
}

async function expand(
  pieces: readonly Piece[],
  medium: Medium,
  { budget, resolve }: StreamOptions,
): Promise<Buffer> {
  const ids = tokenIdsOf(pieces);
  const values: Values = ids.length > 0 ? await resolve(ids) : new Map();
  return inSlices(render(pieces, values, medium, budget), budget.takeTurn);
}

function* render(
  pieces: readonly Piece[],
  values: Values,
  { write, encoding }: Medium,
  budget: Budget,
): Work<Buffer> {
  const texts = yield* renderEach(pieces, values, budget, write);
  const parts: Buffer[] = [];
  for (const [i, text] of texts.entries()) {
    parts.push(Buffer.from(text, typeof pieces[i] === 'string' ? encoding : 'utf8'));
    yield;
  }
  return Buffer.concat(parts);
}
