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
export { UsedTickets } from './used-tickets';
export { isOf, Tickets, ticketHeader, type Ticket } from './ticket';
