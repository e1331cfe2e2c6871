import { CallRefused } from './call-refused';

/** A line of the log about one connection of code. It holds no path and no data. */
interface ConnectionRecord {
  readonly host: string;
  readonly port: number;
  /** `closed`, or the code of the error that ended it. */
  readonly outcome: string;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly ms: number;
}

/** The line about the connections of a run beyond those that have a line of their own. */
interface RestRecord {
  readonly connections: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

export interface RunOwner {
  readonly tenantId: string;
  readonly resourceId: string;
}

export type Note = (record: RunOwner & (ConnectionRecord | RestRecord)) => void;

const connectionsOfRunMax = 1_000;
const connectionBytesMax = 100 * 1024 * 1024;
const runBytesMax = 400 * 1024 * 1024;
const recordsOfRunMax = 50;
const hostLengthMax = 253;

/** The code of every error for a run or connection that has used up what it may use. */
export const overQuota = 'EDQUOT';

/** Counts the connections of one run, and the bytes on them, and notes each that has ended. */
export class TrafficOfRun {
  private readonly owner: RunOwner;
  private connections = 0;
  private open = 0;
  private bytes = 0;
  private recordsLeft = recordsOfRunMax;
  private rest = { connections: 0, bytesSent: 0, bytesReceived: 0 };
  private isOver = false;

  constructor(
    { tenantId, resourceId }: RunOwner,
    private readonly note: Note,
  ) {
    this.owner = { tenantId, resourceId };
  }

  begin(host: string, port: number): ConnectionTraffic {
    if (this.connections >= connectionsOfRunMax) {
      throw new CallRefused(overQuota, `connect ${overQuota}`);
    }
    this.connections += 1;
    this.open += 1;
    return new ConnectionTraffic({ host: host.slice(0, hostLengthMax), port }, this);
  }

  /** Counts bytes in either direction. False when the run has used up its quota. */
  take(bytes: number): boolean {
    this.bytes += bytes;
    return this.bytes <= runBytesMax;
  }

  ended(record: ConnectionRecord): void {
    this.open -= 1;
    if (this.recordsLeft > 0) {
      this.recordsLeft -= 1;
      this.note({ ...this.owner, ...record });
    } else {
      this.rest.connections += 1;
      this.rest.bytesSent += record.bytesSent;
      this.rest.bytesReceived += record.bytesReceived;
    }
    this.noteRest();
  }

  end(): void {
    this.isOver = true;
    this.noteRest();
  }

  /** Connections that were being opened end a little later than their run. */
  private noteRest(): void {
    if (!this.isOver || this.open > 0 || this.rest.connections === 0) return;
    this.note({ ...this.owner, ...this.rest });
    this.rest.connections = 0;
  }
}

/** Counts what one connection has carried. */
export class ConnectionTraffic {
  private readonly startedAt = performance.now();
  private bytesSent = 0;
  private bytesReceived = 0;

  constructor(
    private readonly target: { readonly host: string; readonly port: number },
    private readonly run: TrafficOfRun,
  ) {}

  get wasAnswered(): boolean {
    return this.bytesReceived > 0;
  }

  /** False when these bytes are above the quota of the connection or of its run. */
  send(bytes: number): boolean {
    this.bytesSent += bytes;
    return this.run.take(bytes) && this.bytesSent <= connectionBytesMax;
  }

  receive(bytes: number): boolean {
    this.bytesReceived += bytes;
    return this.run.take(bytes) && this.bytesReceived <= connectionBytesMax;
  }

  end(outcome: string): void {
    const { bytesSent, bytesReceived } = this;
    const ms = Math.round(performance.now() - this.startedAt);
    this.run.ended({ ...this.target, outcome, bytesSent, bytesReceived, ms });
  }
}
