import { AsyncLocalStorage } from 'node:async_hooks';
import {
  objectOf,
  positiveOf,
  readValue,
  valueBytesMax,
  writeValue,
  type Frame,
  type InvalidResultReason,
  type JsonFrameType,
  type JsonObject,
} from '@glovebox/sandbox';
import {
  createCallsOfRun,
  leave,
  listen,
  send,
  settleCall,
  type CallsOfRun,
} from './inside/channel';
import { consoleOfRun, createConsole, withinShare } from './inside/console';
import { cutThrown, describeThrown, thrownAnswer } from './inside/errors';
import { inAnyCase } from './inside/headers';
import { restOfProcess } from './inside/leftovers';
import { loadHandler, UnusableCode, warmUp, type Handler, type Modules } from './inside/modules';
import { onStreamData, onStreamEvent, routeNetworkThroughChannel } from './inside/network';
import { withdrawProcessControls } from './inside/process-surface';
import { describeResult } from './inside/results';

/**
 * The inside of a sandbox. It starts generic, gets one customer's code by LOAD, and answers one
 * INVOKE after the other. It runs on Node 16 and newer and needs nothing else: no packages, no files.
 */
interface Run {
  readonly id: number;
  readonly calls: CallsOfRun;
  readonly resultBytesMax: number;
  readonly isTransform: boolean;
  console?: ReturnType<typeof consoleOfRun>;
}

const runs = new AsyncLocalStorage<Run>();
const { captureStackTrace } = Error;
const later = setImmediate;
let current: Run | undefined;
let isLoading = false;
let handler: Handler | undefined;

function begin(head: JsonObject): Run {
  const id = positiveOf(head, 'run');
  current?.calls.end();
  current = {
    id,
    calls: createCallsOfRun(id),
    resultBytesMax: Math.min(positiveOf(head, 'resultBytesMax'), valueBytesMax),
    isTransform: head['kind'] === 'transform',
  };
  return current;
}

function load(head: JsonObject, code: Buffer): void {
  isLoading = true;
  const run = begin(head);
  runs.run(run, () => {
    try {
      handler = loadHandler(code.toString('utf8'), head['modules'] as Modules);
      isLoading = false;
      send('LOADED', { ok: true });
    } catch (error) {
      failToLoad(run, error);
    }
  });
}

function failToLoad(run: Run, thrown: unknown): void {
  const kind = thrown instanceof UnusableCode ? 'invalid_code' : 'threw';
  sayFailure('LOADED', { ok: false }, { kind, thrown, bytesMax: run.resultBytesMax });
}

/** Sends a failure. Where the body of its error cannot be sent, that becomes the failure. */
function sayFailure(
  type: JsonFrameType,
  head: JsonObject,
  { kind, thrown, bytesMax }: { kind: string; thrown: unknown; bytesMax: number },
): void {
  const error = describeThrown(thrown);
  let reason: InvalidResultReason = 'too_large';
  try {
    // The whole error must be sendable, although only the part that is shown is sent.
    const [whole, shown] = [writeValue(error), writeValue(cutThrown(error))];
    if (Math.max(Buffer.byteLength(whole), Buffer.byteLength(shown)) <= bytesMax) {
      return send(type, { ...head, kind }, shown);
    }
  } catch {
    reason = 'not_serialisable';
  }
  send(type, { ...head, kind: 'invalid_result', reason });
}

function invoke(head: JsonObject, value: Buffer): void {
  const run = begin(head);
  const { args, configuration } = objectOf(readValue(value), 'input');
  const request = {
    args: run.isTransform ? transformArguments(args) : args,
    configuration: objectOf(configuration, 'configuration'),
    svc: head['svc'] === true ? createSvc(run) : null,
  };
  void runs.run(run, async () => {
    try {
      finish(run, await handler?.(request));
    } catch (error) {
      fail(run, error);
    }
  });
}

function transformArguments(args: unknown): unknown {
  const members = objectOf(args, 'args');
  return { ...members, headers: inAnyCase(objectOf(members['headers'], 'headers')) };
}

function finish(run: Run, value: unknown, kind: 'returned' | 'answered' = 'returned'): void {
  if (current !== run) return;
  const result = describeResult(value, run.resultBytesMax);
  const isInvalid = result.kind === 'invalid';
  const outcome = isInvalid ? { kind: 'invalid_result', reason: result.reason } : { kind };
  const head = { run: run.id, ...outcome };
  const text = result.kind === 'text' ? result.text : undefined;
  // What timers, handles and calls may still do is not waited for.
  if (run.calls.hasCalled() || restOfProcess().leftovers) {
    end(run);
    return send('RESULT', head, text);
  }
  current = undefined;
  run.calls.end();
  // Only microtasks and ticks can still run, and they run before this.
  later(() => {
    const { leftovers, quiet } = restOfProcess();
    send('RESULT', leftovers ? head : { ...head, atRest: true, quiet }, text);
    if (leftovers) sayAtRest('REST', { run: run.id });
  });
}

function end(run: Run): void {
  current = undefined;
  run.calls.end();
  sayAtRest('REST', { run: run.id });
}

/** Waits a whole turn: behind the effects of earlier frames and behind every due timer. */
function sayAtRest(type: 'REST' | 'PONG', head: JsonObject): void {
  later(() => later(() => send(type, { ...head, ...restOfProcess() })));
}

/** `last`: no further run may use this process. */
function fail(run: Run, thrown: unknown, last = false): void {
  if (current !== run) return;
  const answer = run.isTransform && !last ? thrownAnswer(thrown) : undefined;
  if (answer) return finish(run, answer, 'answered');
  end(run);
  const failure = { kind: 'threw', thrown, bytesMax: run.resultBytesMax };
  sayFailure('RESULT', { run: run.id, last }, failure);
}

/** Handles an error that nobody caught. */
function giveUp(thrown: unknown): void {
  // Between runs it comes from calls and connections that ended with their run.
  if (current === undefined) return;
  if (isLoading) failToLoad(current, thrown);
  else fail(current, thrown, true);
  leave();
}

function createSvc(run: Run): object {
  const method =
    (name: string) =>
    async (...params: unknown[]): Promise<unknown> => {
      try {
        return await run.calls.call(`svc.${name}`, params);
      } catch (error) {
        // The error came by a frame. Its stack begins at the code that waits for the call.
        captureStackTrace(error as object);
        throw error;
      }
    };
  return {
    tokenize: method('tokenize'),
    detokenize: method('detokenize'),
    tokens: {
      create: method('tokens.create'),
      retrieve: method('tokens.retrieve'),
      list: method('tokens.list'),
      update: method('tokens.update'),
      delete: method('tokens.delete'),
    },
  };
}

/** Nothing once the run is over. Most runs write nothing, so theirs is made at the first line. */
function consoleNow(): Run['console'] {
  const run = runs.getStore();
  if (run === undefined || run !== current) return undefined;
  const { id } = run;
  return (run.console ??= consoleOfRun(
    withinShare((level, text) => send('LOG', { run: id, level }, text)),
  ));
}

function onFrame(frame: Frame): void {
  if (frame.type === 'DATA') return onStreamData(frame.stream, frame.data);
  switch (frame.type) {
    case 'LOAD':
      return load(frame.head, frame.value);
    case 'INVOKE':
      return invoke(frame.head, frame.value);
    case 'RPCRES':
      return settleCall(frame.head, frame.value);
    case 'STREAM':
      return onStreamEvent(frame.head);
    case 'PING':
      return sayAtRest('PONG', { id: frame.head['id'] });
    default:
      return leave();
  }
}

Object.defineProperty(globalThis, 'console', {
  configurable: true,
  writable: true,
  value: createConsole(consoleNow),
});
process.on('uncaughtException', giveUp);
process.on('unhandledRejection', giveUp);
warmUp();
routeNetworkThroughChannel();
withdrawProcessControls();
listen(onFrame);
send('READY', { node: process.version });
