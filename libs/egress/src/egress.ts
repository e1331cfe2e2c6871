import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Shares } from '@glovebox/shares';
import { dial, type DialTarget } from './dial';
import { LookUps } from './look-ups';
import { OwnServices } from './own-services';
import type { EgressPolicy } from './policy';
import { post, type Post, type Posted } from './post';
import { resolveName } from './resolve';
import { SystemNames } from './system-names';
import { checkUrl } from './url';

/** Every connection that leaves the product is made by one of these; beneath them is one dialer. */
export interface Egress {
  /** Throws EgressRefused. What a name resolves to is judged when it is called. */
  checkUrl(text: string): URL;
  /** Rejects with EgressRefused, EgressUnreachable, a Problem of a share, or the signal's reason. */
  dial(target: DialTarget): Promise<Socket | TLSSocket>;
  /** The same for a connection that will carry http: without TLS only where plain http may be spoken. */
  connect(target: DialTarget): Promise<Socket | TLSSocket>;
  /** One POST, as webhooks are. */
  post(url: string, message: Post): Promise<Posted>;
}

export interface EgressParts {
  /** Look-ups under way, by tenant. An app that opens no connection needs no place. */
  readonly lookups: Shares;
  readonly system: SystemNames;
}

export function createEgress(
  policy: EgressPolicy,
  { lookups = new Shares({ places: 0 }), system = new SystemNames() }: Partial<EgressParts> = {},
): Egress {
  const source = policy.dnsServers.length > 0 ? policy.dnsServers : system;
  const rules = {
    policy,
    // Asks as the system does, whatever EGRESS_DNS says: our own clients do the same.
    own: new OwnServices(policy.ownServices, (name) => resolveName(name, system)),
    lookUps: new LookUps(lookups, (name, signal) => resolveName(name, source, signal)),
  };
  return {
    checkUrl: (text) => checkUrl(policy, rules.own, text),
    dial: (target) => dial(rules, target),
    connect: (target) => dial(rules, target, 'refused'),
    post: (url, message) => post(rules, url, message),
  };
}
