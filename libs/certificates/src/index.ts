export { createAuthority, Issuer, type AuthorityKeys, type Leaf } from './authority';
