import { Session } from 'node:inspector';
import { parentPort } from 'node:worker_threads';
import { encodeFrame, inspectedBytesMax, type Frame } from '@glovebox/sandbox';
import { socketLine, type FromInspector, type ToInspector } from './inside/line';

/**
 * The thread of a sandbox that lets a debugger in. It has the channel, hands all other frames to the
 * thread of the code, and goes on while the debugger holds that one.
 */
interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params?: object;
}

const line = socketLine();
const session = new Session();

function say(message: object): void {
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) <= inspectedBytesMax) line.write(encodeFrame('INSPECT', {}, text));
  else if ('id' in message) sayError(message.id as number, 'The answer is too large');
}

const sayError = (id: number, message: string): void =>
  say({ id, error: { code: -32_000, message } });

function ask(text: string): void {
  const { id, method, params } = JSON.parse(text) as Asked;
  try {
    session.post(method, params, (error: Error | null, result?: object) =>
      error ? sayError(id, error.message) : say({ id, result }),
    );
  } catch (error) {
    sayError(id, (error as Error).message);
  }
}

const pass = (frame: Frame): void => parentPort?.postMessage({ frame } satisfies FromInspector);

function onFrame(frame: Frame): void {
  if (frame.type === 'INSPECT') return ask(frame.value.toString('utf8'));
  if (frame.type !== 'LOAD') return pass(frame);
  // Answered once the other thread knows all breakpoints that were set before.
  session.post('Runtime.evaluate', { expression: '0' }, () => pass(frame));
}

parentPort?.on('message', ({ bytes, written }: ToInspector) => {
  const answer =
    written === undefined
      ? undefined
      : (): void => parentPort?.postMessage({ written } satisfies FromInspector);
  line.write(bytes, answer);
});
session.connectToMainThread();
session.on('inspectorNotification', say);
line.listen(onFrame);
