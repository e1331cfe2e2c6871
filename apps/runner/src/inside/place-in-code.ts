import {
  isFunctionName,
  placeAt,
  placeOfSyntaxError,
  stackFramesMax,
  type CodeFrame,
  type CodePlace,
} from '@glovebox/sandbox';

/** A stack may be as long as its code wants. Its first frames, or its source line, are within. */
const stackSearchedMax = 128 * 1024;
/** V8 begins a stack with the name of the error, `: ` and its message. */
const nameSearchedMax = 1_000;

const reflectSet = Reflect.set;
const frameLine = '^ {4}at (?:(.*) \\()?(?:async )?reactor\\.js:(\\d{1,7}):(\\d{1,7})\\)?$';

/**
 * The first place in the code of an error's stack, and the calls in the code that led there. The code
 * may have made the stack itself, so this never throws, and at worst knows nothing.
 */
export function placeInCode(
  error: object,
): (CodePlace & { readonly stack?: readonly CodeFrame[] }) | undefined {
  try {
    const stack = stackOf(error);
    const place = placeOfSyntaxError(stack);
    if (place) return place;
    const frames = framesIn(stack);
    const [first] = frames;
    return first && { line: first.line, column: first.column, stack: frames };
  } catch {
    return undefined;
  }
}

function framesIn(stack: string): CodeFrame[] {
  const frames: CodeFrame[] = [];
  const pattern = new RegExp(frameLine, 'gm');
  // Code may have replaced `exec` by one that always finds something.
  for (let nth = 0; nth < stackFramesMax; nth += 1) {
    const found = pattern.exec(stack);
    if (found === null) break;
    const [, called = '', line, column] = found;
    const place = placeAt(Number(line), Number(column));
    if (place === undefined) break;
    const name = called.replace(/^async /, '');
    frames.push({ ...(isFunctionName(name) ? { function: name } : {}), ...place });
  }
  return frames;
}

/** The beginning of the stack, without the message: it may quote other stacks. */
function stackOf(error: object): string {
  const { stack, message } = unformatted(error as Error);
  if (typeof stack !== 'string') return '';
  const colon = stack.slice(0, nameSearchedMax).indexOf(': ');
  const isHead =
    colon !== -1 && typeof message === 'string' && stack.startsWith(message, colon + 2);
  const start = isHead ? colon + 2 + message.length : 0;
  return stack.slice(start, start + stackSearchedMax);
}

/** V8 makes the text of a stack when it is first read. Code may have set a function for that. */
function unformatted(error: Error): { stack: unknown; message: unknown } {
  const { prepareStackTrace } = Error;
  reflectSet(Error, 'prepareStackTrace', undefined);
  try {
    return { stack: error.stack, message: error.message };
  } finally {
    reflectSet(Error, 'prepareStackTrace', prepareStackTrace);
  }
}
