import type { Redis } from 'ioredis';

const intervalMs = 2_000;

/**
 * Stays subscribed for the life of the process. The client's own renewal loses a subscription whose
 * connection dies while it is made, and no client notices a silent connection that is dead. So this
 * subscribes again and again, and each time is answered. A missing answer ends the connection by
 * the time-out of its socket, and the next connection subscribes.
 */
export function keepSubscribed(
  subscriber: Redis,
  channel: string,
  onMessage: (message: string) => void,
): { stop(): void } {
  const subscribe = (): void => {
    if (subscriber.status !== 'ready') return;
    // The connection itself reports the failure.
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
