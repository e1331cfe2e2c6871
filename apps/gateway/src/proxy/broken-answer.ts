import { tlsReasonOf } from '@glovebox/egress';
import type { AnswerFault } from '@glovebox/http1';
import type { FailurePhase } from '@glovebox/problems';

/** How far an exchange had come when its connection failed. */
export interface ExchangeProgress {
  readonly phase: 'send' | 'first_byte' | 'body';
  /** The URL of the destination says http. */
  readonly isPlain: boolean;
  /** Bytes of a streamed body that went out. */
  readonly sentBytes: number;
  /** Bytes of the answer that came. */
  readonly answerBytes: number;
}

interface Broken {
  readonly phase: FailurePhase;
  readonly reason: string;
}

/** Says where and how an exchange broke. Nothing that the destination sent goes into the words. */
export function whereBroken(fault: AnswerFault, progress: ExchangeProgress): Broken {
  const { phase, isPlain } = progress;
  switch (fault.code) {
    case 'tls':
      return {
        phase: 'first_byte',
        reason: isPlain ? 'the port speaks TLS, the URL says http' : notHttp,
      };
    case 'invalid':
      return {
        // An answer may come before the request is out.
        phase: phase === 'send' ? 'first_byte' : phase,
        reason: /^not\b/.test(fault.message)
          ? notHttp
          : `the answer cannot be read: ${fault.message}`,
      };
    case 'broken':
      return brokenConnection((fault.cause ?? {}) as NodeJS.ErrnoException, progress);
  }
}

const notHttp = 'the answer is not HTTP/1.1';

function brokenConnection(
  error: NodeJS.ErrnoException,
  { phase, sentBytes, answerBytes }: ExchangeProgress,
): Broken {
  const ofTls = tlsReasonOf(error);
  if (ofTls !== undefined) return { phase: 'tls', reason: ofTls };
  const how = error.code === 'ECONNRESET' ? 'reset' : 'closed';
  if (answerBytes > 0) {
    return {
      phase: phase === 'body' ? 'body' : 'first_byte',
      reason: `${how} after ${grouped(answerBytes)} bytes of the answer`,
    };
  }
  return phase === 'send'
    ? { phase, reason: `${how} after ${grouped(sentBytes)} bytes of the body of the request` }
    : { phase, reason: `${how} without an answer` };
}

const grouped = (bytes: number): string => bytes.toLocaleString('en-US');
