import { mayBeData, Problem, type ProblemCode } from '@glovebox/problems';
import { withoutParameters } from '../../connection/intake';
import { valueOf } from './content';

/** The head of an answer, with headers as name, value, name, value… */
interface AnswerHead {
  readonly status: number;
  readonly headers: readonly string[];
}

/** The codes of a message that cannot be read or changed, whichever side it comes from. */
const ofMessages: ReadonlySet<ProblemCode> = new Set([
  'invalid_expression',
  'invalid_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
  'validation_failed',
]);

/**
 * A caller that is told of a 4xx mends its request and sends it again. So what is wrong with the
 * answer is never its fault: the request has done its work.
 */
export function asAnswerFault(thrown: unknown, head: AnswerHead): unknown {
  if (!(thrown instanceof Problem) || !ofMessages.has(thrown.code)) return thrown;
  const { message, errors, code } = thrown;
  const what = shown(head);
  const { phase, reason } = thrown.failure ?? {
    phase: 'transform',
    reason: reasons[code] ?? 'the answer cannot be changed',
  };
  return new Problem('destination_answer_invalid', {
    detail: `The answer ${what}; the request was delivered (${head.status}). ${message}`,
    ...(errors ? { errors } : {}),
    failure: {
      phase,
      reason: code === 'unsupported_media_type' ? `the answer ${what}` : reason,
      destinationStatus: head.status,
    },
    cause: thrown,
  });
}

/** Reasons for an answer that no transform has seen yet. */
const reasons: Partial<Record<ProblemCode, string>> = {
  payload_too_large: 'the answer is above 10 MiB',
  invalid_request: 'the answer is a part, or is not what its headers say',
};

/** RFC 9110 §8.3.1 allows more characters. No type in use has them. */
const plainType = /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/i;
const plainCoding = /^[a-z0-9-]{1,20}$/i;

const isPlain = (text: string, form: RegExp): boolean => form.test(text) && !mayBeData(text);

/** Text of the destination's is shown only where it can be nothing but a name. */
function shown({ headers }: AnswerHead): string {
  const type = withoutParameters(valueOf(headers, 'content-type') ?? '');
  const coding = valueOf(headers, 'content-encoding') ?? '';
  const says =
    type === '' ? 'has no type' : isPlain(type, plainType) ? `is ${type}` : 'is of a strange type';
  if (coding === '') return says;
  return `${says}, ${isPlain(coding, plainCoding) ? `encoded as ${coding}` : 'strangely encoded'}`;
}
