export { AnswerFault } from './answer-fault';
export type { AnswerReceiver } from './answer-receiver';
export { RequestInvalid } from './client-request';
export type { ClientRequest, WholeBody } from './client-request';
export { Connection } from './connection';
export type { ConnectionOwner } from './connection';
