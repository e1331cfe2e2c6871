import { AsyncLocalStorage } from 'node:async_hooks';
import {
  encodeFrame,
  frameBytesMax,
  objectOf,
  positiveOf,
  textOf,
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
  sendText,
  settleCall,
  type CallsOfRun,
} from './inside/channel';
import { createConsole, logBytesMax, logLinesMax } from './inside/console';
import { cutThrown, describeThrown, thrownAnswer } from './inside/errors';
import { inAnyCase } from './inside/headers';
import { hasLeftovers } from './inside/leftovers';
import { loadHandler, UnusableCode, warmUp, type Handler } from './inside/modules';
import { onStreamData, onStreamEvent, routeNetworkThroughChannel } from './inside/network';
import { withdrawProcessControls } from './inside/process-surface';
import { describeResult } from './inside/results';

/**
 * The inside of a sandbox. It starts generic, gets one customer's code by LOAD, and answers one
 * INVOKE after the other. It runs on Node 16 and 20 and needs nothing else: no packages, no files.
 */
interface Run {
  readonly id: number;
  readonly calls: CallsOfRun;
  readonly resultBytesMax: number;
  readonly isTransform: boolean;
  linesLeft: number;
  bytesLeft: number;
}

const runs = new AsyncLocalStorage<Run>();
const { stringify } = JSON;
const later = setImmediate;
let current: Run | undefined;
let isLoading = false;
let handler: Handler | undefined;

function begin(body: JsonObject): Run {
  const id = positiveOf(body, 'run');
  current?.calls.end();
  current = {
    id,
    calls: createCallsOfRun(id),
    resultBytesMax: Math.min(positiveOf(body, 'resultBytesMax'), frameBytesMax - 1024),
    isTransform: body['kind'] === 'transform',
    linesLeft: logLinesMax,
    bytesLeft: logBytesMax,
  };
  return current;
}

function load(body: JsonObject): void {
  const errorsModules = body['errorsModules'] as readonly string[];
  isLoading = true;
  const run = begin(body);
  runs.run(run, () => {
    try {
      handler = loadHandler(textOf(body, 'code'), errorsModules);
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
    if (Buffer.byteLength(stringify(error)) <= bytesMax) {
      // The whole error must be sendable, although only the part that is shown is sent.
      encodeFrame(type, { error });
      return send(type, { ...head, kind, error: cutThrown(error) });
    }
  } catch {
    reason = 'not_serialisable';
  }
  send(type, { ...head, kind: 'invalid_result', reason });
}

function invoke(body: JsonObject): void {
  const run = begin(body);
  const request = {
    args: run.isTransform ? transformArguments(body['args']) : body['args'],
    configuration: objectOf(body['configuration'], 'configuration'),
    svc: body['svc'] === true ? createSvc(run) : null,
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
  end(run);
  if (result.kind === 'text') {
    try {
      // Concatenated: stringifying the result once more would double its cost.
      sendText('RESULT', `{"run":${run.id},"kind":"${kind}","value":${result.text}}`);
    } catch {
      refuse(run, 'not_serialisable');
    }
  } else if (result.kind === 'nothing') send('RESULT', { run: run.id, kind });
  else refuse(run, result.reason);
}

function end(run: Run): void {
  current = undefined;
  run.calls.end();
}

function refuse(run: Run, reason: InvalidResultReason): void {
  send('RESULT', { run: run.id, kind: 'invalid_result', reason });
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
    (...params: unknown[]): Promise<unknown> =>
      run.calls.call(`svc.${name}`, params);
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

function writeLine(level: string, text: string): void {
  const run = runs.getStore();
  if (run === undefined || run !== current) return;
  if (run.linesLeft === 0 || run.bytesLeft === 0) return;
  const line = Buffer.from(text).subarray(0, run.bytesLeft);
  run.linesLeft -= 1;
  run.bytesLeft -= line.length;
  send('LOG', { run: run.id, level, text: line.toString() });
}

function onFrame(frame: Frame): void {
  if (frame.type === 'DATA') return onStreamData(frame.stream, frame.data);
  switch (frame.type) {
    case 'LOAD':
      return load(frame.body);
    case 'INVOKE':
      return invoke(frame.body);
    case 'RPCRES':
      return settleCall(frame.body);
    case 'STREAM':
      return onStreamEvent(frame.body);
    case 'PING':
      // One whole turn later: behind the effects of earlier frames and behind every due timer.
      later(() => later(() => send('PONG', { id: frame.body['id'], leftovers: hasLeftovers() })));
      return;
    default:
      return leave();
  }
}

Object.defineProperty(globalThis, 'console', {
  configurable: true,
  writable: true,
  value: createConsole(writeLine),
});
process.on('uncaughtException', giveUp);
process.on('unhandledRejection', giveUp);
warmUp();
routeNetworkThroughChannel();
withdrawProcessControls();
listen(onFrame);
send('READY', { node: process.version });
