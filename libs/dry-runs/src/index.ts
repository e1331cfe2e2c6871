export {
  dryRunsPath,
  orderBytesMax,
  toOrder,
  writeOrder,
  type DryRunOrder,
  type KeptValue,
  type ProxyRehearsal,
  type ReactorRehearsal,
} from './order';
export { isOf, Tickets, ticketHeader, type Ticket } from './ticket';
