const tokenIdShape = /^[^#/\\+?[\]|&=%<>{}^\s\p{Cc}]{3,400}$/u;
const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isTokenId(text: string): boolean {
  return tokenIdShape.test(text) && text.isWellFormed();
}

/** UUIDs are the same in either case; names that customers chose are not. */
export function normalTokenId(id: string): string {
  return uuidShape.test(id) ? id.toLowerCase() : id;
}
