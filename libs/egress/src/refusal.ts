import { reasonOf, type UnreachablePhase } from './reasons';

const refusals = {
  not_a_url: 'must be an absolute http or https URL',
  scheme: 'has no scheme: it must begin with https:// or http://',
  protocol: 'must be an http or https URL',
  credentials: 'may not contain credentials',
  plain_http: 'must be an https URL',
  address: 'is not a public address; the operator may allow it with EGRESS_ALLOW',
  // The same text as for any other address: the answer must not reveal which ones are ours.
  own_service: 'is not a public address; the operator may allow it with EGRESS_ALLOW',
} as const;

type RefusalReason = keyof typeof refusals;

/** The rules, for the operator alone. */
const rules: Readonly<Record<RefusalReason, string>> = {
  not_a_url: 'host and port cannot be called',
  scheme: 'the URL has no scheme',
  protocol: 'the protocol is not http or https',
  credentials: 'the URL has credentials',
  plain_http: 'plain http is not allowed to this address',
  address: 'EGRESS_ALLOW does not name this address, which is not public',
  own_service: 'this is a service of this installation',
};

/** The policy forbids it. The message names no address. */
export class EgressRefused extends Error {
  readonly code = 'EGRESS_REFUSED';
  /** The rule that refused, in words. Callers must not learn it. */
  readonly rule: string;

  /** `literal`: the address and port that a URL names itself, in the form of EGRESS_ALLOW. */
  constructor(
    readonly reason: RefusalReason,
    private readonly literal?: string,
  ) {
    super(refusals[reason]);
    this.name = 'EgressRefused';
    this.rule = rules[reason];
  }

  /** The message for the tenant that chose the URL. */
  get fault(): string {
    return this.literal === undefined ? this.message : `${this.message}=${this.literal}`;
  }
}

/**
 * Allowed, but not reached. Of the error beneath only its code is kept, and words of ours for it:
 * the error names addresses that neither callers nor logs may learn. A caller that may not know the
 * reason gets one text for this and EgressRefused.
 */
export class EgressUnreachable extends Error {
  /** In words, for the tenant and the operator. */
  readonly reason: string;

  /** `withinMs`: the time that was over. */
  constructor(
    readonly code: string,
    readonly phase: UnreachablePhase,
    withinMs?: number,
  ) {
    super('the destination could not be reached');
    this.name = 'EgressUnreachable';
    this.reason = reasonOf(code, phase, withinMs);
  }
}

export function unreachable(error: unknown, phase: UnreachablePhase): EgressUnreachable {
  if (error instanceof EgressUnreachable) return error;
  const code = (error as { code?: unknown } | null)?.code;
  return new EgressUnreachable(typeof code === 'string' ? code : 'EUNKNOWN', phase);
}
