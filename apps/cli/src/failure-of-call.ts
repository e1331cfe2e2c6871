import { GloveboxError, NoAnswer } from '@glovebox/client';
import { Failure, type Exit } from './failure';

type Problem = GloveboxError['problem'];

/** A call that Glovebox refused, as a person at the terminal reads it. */
export class Refusal extends Failure {
  readonly problem: Problem;

  constructor({ problem }: GloveboxError) {
    const { code, title, detail } = problem;
    super(exitOf(problem), `${detail ?? title} (${code})`, hintOf(problem), { ...problem });
    this.problem = problem;
  }
}

/** What a call threw, for a person. Anything else stays as it is. */
export function failureOf(error: unknown, url: () => string, signal: AbortSignal): unknown {
  if (error instanceof GloveboxError) return new Refusal(error);
  if (error instanceof NoAnswer) {
    return new Failure(
      'unreachable',
      `${url()} does not answer: ${whyNot(error)}`,
      'Is the URL right, and does Glovebox run there? `glovebox doctor` looks closer.',
    );
  }
  const isInterrupted = signal.aborted && error === signal.reason;
  return isInterrupted ? new Failure('interrupted', 'Interrupted.') : error;
}

/** The innermost reason: that of the network, where there is one. */
export function whyNot(error: Error): string {
  const { cause, message } = error;
  // It has the answer that came before, and its cause says no more than that time is over.
  if (error instanceof NoAnswer && error.isTimeout) return message;
  return cause instanceof Error ? whyNot(cause) || String(cause) : message;
}

function exitOf({ code, status }: Problem): Exit {
  if (status === 401 || status === 403) return 'refused';
  return code === 'deployment_conflict' || code === 'precondition_failed' ? 'conflict' : 'rejected';
}

function hintOf({ status, errors }: Problem): string | undefined {
  if (status === 401) return 'Log in with a valid key: `glovebox login`.';
  if (status === 403) return '`glovebox doctor` shows what the key may do.';
  const lines = Object.entries(errors ?? {}).map(([at, texts]) => `${at}: ${texts.join(', ')}`);
  return lines.length > 0 ? lines.join('\n') : undefined;
}
