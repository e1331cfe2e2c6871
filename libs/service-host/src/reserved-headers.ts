/** They are about one connection, never about what goes through it. */
const hopByHop = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

const framing = ['expect', 'content-length', 'content-encoding'];
const aboutTheWay = ['host', 'forwarded', 'cdn-loop'];
const reserved = new Set([...hopByHop, ...framing, ...aboutTheWay]);

/** Is it ours alone to say in a message that goes through us? Takes a lower-cased name. */
export function isReservedHeader(lowerName: string): boolean {
  return (
    reserved.has(lowerName) ||
    lowerName.startsWith('proxy-') ||
    lowerName.startsWith('x-forwarded-')
  );
}
