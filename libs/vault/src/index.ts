export { isContainer, type Actor, type NewToken, type TokenInput, type TokenView } from './token';
export { Vault } from './vault';
