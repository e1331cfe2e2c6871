/** Arguments of this size cost the thread that serves all tenants milliseconds. */
const largeBytes = 64 * 1024;
/** Members that cost as much: those of a hundred tokens to store. */
const largeCommas = 200;
/** A call that lasts longer no longer keeps the next one waiting. */
const turnMs = 100;

const comma = 0x2c;

function isLarge(params: Buffer): boolean {
  if (params.length >= largeBytes) return true;
  let commas = 0;
  for (let at = params.indexOf(comma); at !== -1; at = params.indexOf(comma, at + 1)) {
    commas += 1;
    if (commas >= largeCommas) return true;
  }
  return false;
}

/**
 * Carries out the large calls of all runs one after the other, tenants in turn. If many came to the
 * thread at once, their work would follow each other without a moment for anybody else.
 */
export class LargeCalls {
  private readonly waiting = new Map<string, (() => void)[]>();
  private isTaken = false;

  async inTurn<T>(tenantId: string, params: Buffer, call: () => Promise<T>): Promise<T> {
    if (!isLarge(params)) return call();
    await this.turnOf(tenantId);
    let isOver = false;
    const end = (): void => {
      if (!isOver) setImmediate(() => this.next());
      isOver = true;
    };
    const timer = setTimeout(end, turnMs);
    try {
      return await call();
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  private turnOf(tenantId: string): Promise<void> | undefined {
    if (!this.isTaken) {
      this.isTaken = true;
      return undefined;
    }
    return new Promise((begin) => {
      const others = this.waiting.get(tenantId);
      if (others === undefined) this.waiting.set(tenantId, [begin]);
      else others.push(begin);
    });
  }

  private next(): void {
    const [first] = this.waiting;
    if (first === undefined) {
      this.isTaken = false;
      return;
    }
    const [tenantId, [begin, ...others]] = first;
    // A tenant that is set again comes last.
    this.waiting.delete(tenantId);
    if (others.length > 0) this.waiting.set(tenantId, others);
    begin?.();
  }
}
