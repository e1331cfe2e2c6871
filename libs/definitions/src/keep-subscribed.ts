import type { Redis } from 'ioredis';

const intervalMs = 2_000;

/**
 * Stays subscribed for the life of the process. The client's own renewal forgets a subscription whose
 * connection died while it was being made, and no client notices that a silent connection is dead.
 * Subscribing again and again is answered each time: what is not answered ends the connection, by the
 * time-out of its socket, and the next connection subscribes.
 */
export function keepSubscribed(
  subscriber: Redis,
  channel: string,
  onMessage: (message: string) => void,
): { stop(): void } {
  const subscribe = (): void => {
    if (subscriber.status !== 'ready') return;
    // Why it failed, the connection itself reports.
    subscriber.subscribe(channel).catch(() => undefined);
  };
  const listen = (from: string, message: string): void => {
    if (from === channel) onMessage(message);
  };
  subscriber.on('message', listen);
  subscriber.on('ready', subscribe);
  subscribe();
  const timer = setInterval(subscribe, intervalMs).unref();
  return {
    stop() {
      clearInterval(timer);
      subscriber.off('message', listen);
      subscriber.off('ready', subscribe);
    },
  };
}
