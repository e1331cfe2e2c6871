/** They are about one connection, never about what goes through it. */
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

/** How long a message is and how it is packed, where it goes and the way that it came. */
const ours = ['content-encoding', 'content-length', 'expect', 'host', 'forwarded', 'cdn-loop'];
const reserved = new Set([...hopByHopHeaders, ...ours]);

/** Has the header a say in how messages go? No transform sets one; takes a lower-cased name. */
export function isReservedHeader(lowerName: string): boolean {
  return (
    reserved.has(lowerName) ||
    lowerName.startsWith('proxy-') ||
    lowerName.startsWith('x-forwarded-')
  );
}
