import { AnswerFault } from './answer-fault';
import { AnswerParser, type Read } from './answer-parser';
import { Recorder } from './spec-recorder';

export interface ParseOptions {
  readonly isHead?: boolean;
  readonly isUpgrade?: boolean;
  /** Sizes of the parts. The last one repeats. */
  readonly sizes?: readonly number[];
  /** The server closes behind it. */
  readonly closes?: boolean;
}

/** The parser's verdict. 'more': the answer has no end yet. */
export interface ParsedAnswer {
  readonly read: Read | 'invalid';
  readonly recorder: Recorder;
  readonly keeps: boolean;
  readonly keepMs: number;
  /** Bytes behind the answer. */
  readonly left: number;
}

export function parse(text: string | Buffer, options: ParseOptions = {}): ParsedAnswer {
  const { isHead = false, isUpgrade = false, sizes = [Infinity], closes = false } = options;
  const bytes = Buffer.from(text as string, 'latin1');
  const parser = new AnswerParser();
  const recorder = new Recorder();
  parser.expect(recorder, isHead, isUpgrade);
  let read: ParsedAnswer['read'] = 'more';
  let left = 0;
  try {
    for (let at = 0, n = 0; at < bytes.length; n += 1) {
      const size = sizes[Math.min(n, sizes.length - 1)] ?? 1;
      // A copy, because the parser joins chunks in place.
      const part = Buffer.from(bytes.subarray(at, at + size));
      at += part.length;
      read = parser.read(part);
      if (read === 'complete' || read === 'switched') {
        left = bytes.length - at + part.length - parser.behind;
        break;
      }
    }
    if (closes && read === 'more' && parser.endsByClose) read = 'complete';
  } catch (thrown) {
    if (!(thrown instanceof AnswerFault) || thrown.code === 'broken') throw thrown;
    read = 'invalid';
  }
  if (read === 'complete') recorder.complete(parser.trailers);
  if (read === 'switched') recorder.upgraded(parser.status, parser.headers, undefined as never);
  return { read, recorder, keeps: parser.keeps, keepMs: parser.keepMs, left };
}
