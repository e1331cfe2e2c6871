import type { IncomingMessage } from 'node:http';
import type { Redis } from 'ioredis';
import { createRateLimit, type RateLimit } from '@glovebox/rates';
import { clientNetworkOf } from '@glovebox/wire';
import type { GatewayConfig } from '../../config';
import type { Call } from '../../observing/call';

/** The limits of calls to reactors and proxies. Null: switched off. */
export class CallRates {
  readonly #ofKeys: RateLimit | null;
  readonly #ofClients: RateLimit | null;
  readonly #trustedHops: number;

  constructor(
    config: Pick<
      GatewayConfig,
      'CALL_RATE_PER_MINUTE' | 'ANONYMOUS_CALL_RATE_PER_MINUTE' | 'TRUSTED_HOPS'
    >,
    redis: Pick<Redis, 'eval'>,
    onFault: (error: unknown) => void,
  ) {
    const limit = (name: string, perMinute: number): RateLimit | null =>
      createRateLimit({ name, perMinute, redis, onFault });
    this.#ofKeys = limit('key', config.CALL_RATE_PER_MINUTE);
    this.#ofClients = limit('client', config.ANONYMOUS_CALL_RATE_PER_MINUTE);
    this.#trustedHops = config.TRUSTED_HOPS;
  }

  /** Counts a call under its API key. A call that is identified again is counted once. */
  countKey(call: Call, keyHash: string): void {
    if (!this.#ofKeys || call.isCounted) return;
    call.isCounted = true;
    this.#ofKeys.count(keyHash);
  }

  /** Counts a call without an API key under its proxy and the network that it comes from. */
  countClient(call: Call, proxyId: string, req: IncomingMessage): void {
    if (!this.#ofClients || call.isCounted) return;
    call.isCounted = true;
    this.#ofClients.count(`${proxyId}:${clientNetworkOf(req, this.#trustedHops)}`);
  }

  close(): void {
    this.#ofKeys?.close();
    this.#ofClients?.close();
  }
}
