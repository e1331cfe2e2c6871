import { Problem, type ProblemCode } from '@glovebox/problems';
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
  const { message, errors, failure } = thrown;
  return new Problem('destination_answer_invalid', {
    detail: `The destination answered ${shown(head)}. ${message}`,
    ...(errors ? { errors } : {}),
    ...(failure ? { failure: { ...failure, destinationStatus: head.status } } : {}),
    cause: thrown,
  });
}

function shown({ status, headers }: AnswerHead): string {
  const type = withoutParameters(valueOf(headers, 'content-type') ?? '');
  const coding = valueOf(headers, 'content-encoding') ?? '';
  const parts = [
    String(status),
    type && `with ${cut(type)}`,
    coding && `encoded as ${cut(coding)}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

const shownCharacters = 100;
const cut = (text: string): string => text.slice(0, shownCharacters);
