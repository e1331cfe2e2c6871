import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Shares } from '@glovebox/shares';
import { faultOfChosenUrl, type ChosenUrlRules } from './chosen-url';
import { dial, type DialTarget } from './dial';
import { lookUp, type LookUpTarget } from './names/look-up';
import { LookUps } from './names/shared-look-ups';
import { OwnServices } from './own-services';
import { ownServicesAt, readOwnService, type EgressPolicy } from './policy';
import { post, type Post, type PostAnswer } from './post';
import { ownNamesBy, resolveName } from './names/resolve';
import { SystemNames } from './names/system-names';
import { checkUrl } from './url';

/** Makes every connection that leaves the product, with one dialer beneath. */
export interface Egress {
  /**
   * Says why a caller may not choose this URL, or undefined. The addresses of a name are checked
   * when it is dialled.
   */
  faultOfUrl(url: unknown, rules?: ChosenUrlRules): string | undefined;
  /**
   * Rejects with EgressRefused, EgressUnreachable, a Problem of a share, or the signal's reason.
   */
  dial(target: DialTarget): Promise<Socket | TLSSocket>;
  /**
   * Does the same for a connection that will carry http: without TLS only where plain http is
   * allowed.
   */
  connect(target: DialTarget): Promise<Socket | TLSSocket>;
  /**
   * Returns the addresses of a name that may be reached, at least one. Rejects like `dial`.
   */
  lookUp(target: LookUpTarget): Promise<readonly string[]>;
  /** Sends one POST, such as a webhook. */
  post(url: string, message: Post): Promise<PostAnswer>;
  /** Reaches none of these ports of ours from now on. */
  addOwnServices(host: string, ports: readonly number[]): void;
}

export interface EgressParts {
  /** Look-ups under way, by tenant. An app that opens no connection needs no places. */
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
    own: new OwnServices(policy.ownServices, ownNamesBy(system)),
    lookUps: new LookUps(lookups, (name, signal) => resolveName(name, source, signal)),
  };
  return {
    faultOfUrl: (url, rulesOfUrl = {}) =>
      faultOfChosenUrl((text) => checkUrl(policy, rules.own, text), url, rulesOfUrl),
    dial: (target) => dial(rules, target),
    connect: (target) => dial(rules, target, 'refused'),
    lookUp: (target) => lookUp(rules, target),
    post: (url, message) => post(rules, url, message),
    addOwnServices(host, ports) {
      const services = ownServicesAt(host, ports).flatMap((entry, at) =>
        readOwnService(entry, at + 1),
      );
      for (const service of services) rules.own.add(service);
    },
  };
}
