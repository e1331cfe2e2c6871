import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { createConnector } from './connector';
import { dial, type DialTarget, type TlsMaterial } from './dial';
import { OwnServices } from './own-services';
import type { EgressPolicy } from './policy';
import { post, type Post, type Posted } from './post';
import { checkUrl } from './url';

/** Every connection that leaves the product is made by one of these; beneath them is one dialer. */
export interface Egress {
  /** Throws EgressRefused. What a name resolves to is judged when it is called. */
  checkUrl(text: string): URL;
  /** Rejects with EgressRefused, EgressUnreachable or the signal's reason. */
  dial(target: DialTarget): Promise<Socket | TLSSocket>;
  /** For `new Pool(origin, { connect })`. */
  readonly connector: buildConnector.connector;
  connectorWith(material: TlsMaterial): buildConnector.connector;
  /** One POST, as webhooks are. */
  post(url: string, message: Post): Promise<Posted>;
}

export function createEgress(policy: EgressPolicy): Egress {
  const rules = { policy, own: new OwnServices(policy.ownServices) };
  return {
    checkUrl: (text) => checkUrl(policy, rules.own, text),
    dial: (target) => dial(rules, target),
    connector: createConnector(rules),
    connectorWith: (material) => createConnector(rules, material),
    post: (url, message) => post(rules, url, message),
  };
}
