export { createAuthority, Issuer } from './authority';
