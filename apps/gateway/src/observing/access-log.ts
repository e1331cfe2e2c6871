import { operatorsReason } from '../call/failures';
import type { Call, Ending } from './call';

const bufferedMax = 64 * 1024;
const flushMs = 100;

/**
 * Writes one line of JSON per call. Lines are made by hand and written in batches, because a logger
 * costs more than forwarding. Paths, queries, headers and bodies may hold data, expressions and
 * keys: no part of them is logged.
 */
export class AccessLog {
  #pending = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly write: (lines: string) => void) {}

  add(call: Call, ending: Ending): void {
    this.#pending += lineOf(call, ending);
    if (this.#pending.length >= bufferedMax) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#pending;
    this.#pending = '';
    if (lines !== '') this.write(lines);
  }
}

/** Every value is ours, in our words, a number, a UUID, a host or a trace id. None needs escaping. */
function lineOf(call: Call, { durationMs, status, left }: Ending): string {
  const { tenantId, proxyId, reactorId, destinationHost, askedAt, answeredAt, problem } = call;
  let line =
    `{"time":"${new Date().toISOString()}","app":"gateway","msg":"call","route":"${call.route}"` +
    `,"method":"${call.method}","status":${status ?? null},"ms":${durationMs.toFixed(2)}` +
    `,"trace_id":"${call.traceId}"`;
  if (tenantId !== undefined) line += `,"tenant_id":"${tenantId}"`;
  if (proxyId !== undefined) line += `,"proxy_id":"${proxyId}"`;
  if (reactorId !== undefined) line += `,"reactor_id":"${reactorId}"`;
  if (destinationHost !== undefined) line += `,"destination":"${destinationHost}"`;
  if (askedAt !== undefined && answeredAt !== undefined) {
    line += `,"destination_ms":${(answeredAt - askedAt).toFixed(2)}`;
  }
  if (problem !== undefined) {
    line += `,"code":"${problem.code}"`;
    const reason = operatorsReason(problem);
    if (reason) line += `,"phase":"${reason.phase}","reason":"${reason.reason}"`;
  }
  if (left) line += ',"left":true';
  return `${line}}\n`;
}
