import { setTimeout as delay } from 'node:timers/promises';
import { keepCapture } from '@glovebox/captures';
import { timeOrderedId, type Sql } from '@glovebox/database';
import type { DefinitionSnapshot } from '@glovebox/definitions';
import type { Work } from '@glovebox/expressions';
import type { Sealer } from '@glovebox/seal';
import { Counter, describeError, Gauge, type Logger, type Registry } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import type { ServiceHeaders } from '@glovebox/wire';
import type { ReceivedRequest } from '../proxy/proxy-handler';
import { Capture } from './capture';
import { messagesOf } from './captured-messages';

/** Calls of a tenant that one process captures at once after a pause, and each second after them. */
export const capturesAtOnce = 50;
const capturesPerSecond = 1;
/**
 * Calls that are captured now, or wait to be written: with four bodies and the values that are looked
 * for in them, each takes 1 MiB at most. One tenant gets half of what the others leave.
 */
const capturedCallsMax = 64;
const sliceMs = 5;
const restsAfterSlice = 4;
/** Tenants whose allowances are remembered. */
const allowancesMax = 10_000;

interface Allowance {
  left: number;
  at: number;
}

interface CapturesOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly registry: Registry;
  readonly logger: Pick<Logger, 'warn'>;
  readonly headers: ServiceHeaders;
}

/**
 * Keeps messages of proxies that have capture switched on (docs/adr/0104). No call waits for it: what
 * there is no room for, and what Postgres does not take in time, is not kept.
 */
export class Captures {
  readonly #places = new Shares({ places: capturedCallsMax });
  readonly #allowances = new Map<string, Allowance>();
  readonly #stopping = new AbortController();
  readonly #counted: Counter<'result'>;
  #waiting: Capture[] = [];
  #working: Promise<void> | undefined;

  constructor(private readonly options: CapturesOptions) {
    const registers = [options.registry];
    this.#counted = new Counter({
      name: 'glovebox_captures_total',
      help: 'Calls of proxies with capture switched on; skipped: too many at once, dropped: the store did not take it',
      labelNames: ['result'] as const,
      registers,
    });
    for (const result of ['kept', 'skipped', 'dropped']) this.#counted.inc({ result }, 0);
    const waiting = (): number => this.#waiting.length;
    new Gauge({
      name: 'glovebox_captures_waiting',
      help: 'Captured calls that wait to be written',
      registers,
      collect() {
        this.set(waiting());
      },
    });
  }

  /** Hot path: of a proxy without capture, one look-up. */
  begin(definitions: DefinitionSnapshot, { req, decision, call, head }: ReceivedRequest): void {
    const { proxy } = decision.decided;
    const switched = proxy.id === null ? undefined : definitions.captureOf(proxy.id);
    if (!switched || Date.parse(switched.until) <= Date.now()) return;
    const { tenantId } = proxy;
    if (!this.#admits(tenantId)) return void this.#counted.inc({ result: 'skipped' });
    this.#places.enter(tenantId);
    const settings = definitions.find('tenant', tenantId, tenantId)?.settings;
    const whole = switched.whole && settings?.allow_full_capture === 'true';
    const definition = { ...switched, whole };
    // Headers that the gateway adds later are not the caller's.
    const received = { ...head, headers: [...head.headers] };
    const ended = (capture: Capture): void => this.#ended(capture);
    call.capture = new Capture(definition, proxy, call, received, ended);
    // A body of which a part has come already would lack its beginning.
    if (req.bodyBytes === 0) req.seenBy = call.capture.requestBody;
  }

  /** Writes all that waits. With a store that is away, it is dropped. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
  }

  #admits(tenantId: string): boolean {
    if (!this.#places.hasRoom(tenantId)) return false;
    const now = performance.now();
    const known = this.#allowances.get(tenantId) ?? { left: capturesAtOnce, at: now };
    const earned = ((now - known.at) / 1_000) * capturesPerSecond;
    const left = Math.min(capturesAtOnce, known.left + earned);
    if (this.#allowances.size > allowancesMax) this.#allowances.clear();
    this.#allowances.set(tenantId, { left: left < 1 ? left : left - 1, at: now });
    return left >= 1;
  }

  #ended(capture: Capture): void {
    this.#waiting.push(capture);
    this.#working ??= this.#writeAll().finally(() => {
      this.#working = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    let last = '';
    for (let next = this.#next(last); next; next = this.#next(last)) {
      const isWritten = await this.#write(next);
      last = next.proxy.tenantId;
      this.#places.leave(last);
      if (!isWritten && this.#stopping.signal.aborted) this.#dropAll();
    }
  }

  /** The oldest of another tenant, so that calls that take long to search hold up few of others. */
  #next(last: string): Capture | undefined {
    const ofAnother = this.#waiting.findIndex(({ proxy }) => proxy.tenantId !== last);
    return this.#waiting.splice(Math.max(ofAnother, 0), 1)[0];
  }

  #dropAll(): void {
    for (const { proxy } of this.#waiting) this.#places.leave(proxy.tenantId);
    this.#counted.inc({ result: 'dropped' }, this.#waiting.length);
    this.#waiting = [];
  }

  async #write(capture: Capture): Promise<boolean> {
    const { sql, sealer, headers, logger } = this.options;
    const { proxy, call, status, code, definition } = capture;
    try {
      const messages = await atLeisure(messagesOf(capture, headers), this.#stopping.signal);
      await keepCapture(sql, sealer, {
        ...{ tenantId: proxy.tenantId, proxyId: definition.id, id: timeOrderedId() },
        ...{ traceId: call.traceId, method: call.method, status, code },
        ...{ isWhole: definition.whole, messages },
      });
      this.#counted.inc({ result: 'kept' });
      return true;
    } catch (error) {
      this.#counted.inc({ result: 'dropped' });
      logger.warn({ error: describeError(error) }, 'a captured call was not kept');
      return false;
    }
  }
}

/** Does the work in slices. Calls have the process for four times as long after each. */
async function atLeisure<Result>(work: Work<Result>, stopping: AbortSignal): Promise<Result> {
  for (;;) {
    const begun = performance.now();
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < begun + sliceMs);
    const restMs = restsAfterSlice * (performance.now() - begun);
    await delay(restMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}
