import { IsIn, IsString } from 'class-validator';
import type { AccessRule, Transform } from '@glovebox/access';
import { judgedPermissions, type TokenVerdict, type TokenView } from '@glovebox/vault';
import { toWire, type OnWire } from '@glovebox/wire';

export class AskDecision {
  @IsString()
  token_id!: string;

  @IsIn(judgedPermissions)
  permission!: (typeof judgedPermissions)[number];
}

export interface DecisionResponse {
  allowed: boolean;
  container: string;
  transform: Transform | null;
  by: 'rule' | 'permission' | null;
  rule?: AccessRule;
  reason: string;
  shown?: OnWire<TokenView>;
}

export function toDecisionResponse(verdict: TokenVerdict): DecisionResponse {
  const { isAllowed, container, transform, rule, reason, shown } = verdict;
  const plainly = transform === null ? null : 'permission';
  return {
    allowed: isAllowed,
    container,
    transform,
    by: rule ? 'rule' : plainly,
    ...(rule && { rule }),
    reason,
    ...(shown && { shown: toWire(shown) }),
  };
}
