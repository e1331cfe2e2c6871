import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Egress } from '@glovebox/egress';
import type { Inspection, UnreadOutcome } from '@glovebox/sandbox';
import { Shares } from '@glovebox/shares';
import type { RunnerContext } from '../context';
import type { PoolRun } from '../pool/pool';
import { DebuggerLink } from './debugger-link';

const host = '127.0.0.1';
const linksMax = 16;
/** Runs that debuggers see at once. Each has a process beside the pool. */
const runsMax = 4;

/**
 * Runs that a debugger sees. The command line of their author comes in on a port of this machine,
 * with the session that the order of a run names as well.
 */
export class Inspections {
  private readonly links = new Set<DebuggerLink>();
  private readonly places = new Shares({ places: runsMax });
  private readonly server = createServer((socket) => this.welcome(socket));

  constructor(
    private readonly startSandbox: RunnerContext['startSandbox'],
    private readonly egress: Pick<Egress, 'addOwnServices'>,
  ) {}

  /** Returns the port. Other machines do not reach it, and no code does. */
  async listen(wanted: number): Promise<number> {
    this.server.listen(wanted, host);
    await once(this.server, 'listening');
    const { port } = this.server.address() as AddressInfo;
    this.egress.addOwnServices(host, [port]);
    return port;
  }

  async run(run: PoolRun, { session, side }: Inspection): Promise<UnreadOutcome> {
    const link = [...this.links].find((each) => each.session === session);
    if (link === undefined) return { kind: 'no_capacity', inspector: 'not_connected' };
    const { tenantId } = run.order;
    if (link.isTaken || !this.places.hasRoom(tenantId)) {
      return { kind: 'no_capacity', inspector: 'busy' };
    }
    const leave = this.places.takeNow(tenantId);
    try {
      return await link.inspect(run, side);
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    for (const link of this.links) link.end();
    await closed;
  }

  private welcome(socket: Socket): void {
    if (this.links.size >= linksMax) return void socket.destroy();
    const link = new DebuggerLink(socket, this.startSandbox);
    this.links.add(link);
    socket.once('close', () => this.links.delete(link));
  }
}
