/** Headers that speak of one connection, not of the message that passes through it. */
export const hopByHopHeaders: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Length and encoding of a message, its destination, and the servers that it came through. */
const ours = ['content-encoding', 'content-length', 'expect', 'host', 'forwarded', 'cdn-loop'];
const reserved = new Set([...hopByHopHeaders, ...ours]);

/** Whether a lower-cased header controls how messages travel. No transform may set one. */
export function isReservedHeader(lowerName: string): boolean {
  return (
    reserved.has(lowerName) ||
    lowerName.startsWith('proxy-') ||
    lowerName.startsWith('x-forwarded-')
  );
}
