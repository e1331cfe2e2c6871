const refusals = {
  not_a_url: 'must be an absolute http or https URL',
  protocol: 'must be an http or https URL',
  credentials: 'may not contain credentials',
  plain_http: 'must be an https URL',
  address: 'may not be reached from here',
  // The same text as for any other address: the answer must not reveal which ones are ours.
  own_service: 'may not be reached from here',
} as const;

type RefusalReason = keyof typeof refusals;

/**
 * The policy forbids it. The message names no address, because it may go into a 400 about the URL.
 */
export class EgressRefused extends Error {
  readonly code = 'EGRESS_REFUSED';

  constructor(readonly reason: RefusalReason) {
    super(refusals[reason]);
    this.name = 'EgressRefused';
  }
}

/**
 * Allowed, but not reached. Only the code of the error beneath is kept: the error names addresses
 * that neither callers nor logs may learn. Callers answer this and EgressRefused with one text.
 */
export class EgressUnreachable extends Error {
  constructor(readonly code: string) {
    super('the destination could not be reached');
    this.name = 'EgressUnreachable';
  }
}

export function unreachable(error: unknown): EgressUnreachable {
  if (error instanceof EgressUnreachable) return error;
  const code = (error as { code?: unknown } | null)?.code;
  return new EgressUnreachable(typeof code === 'string' ? code : 'EUNKNOWN');
}
