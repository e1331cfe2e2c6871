export { isContainer, type Actor, type NewToken, type TokenView } from './token';
export { Vault } from './vault';
