import { placeAt, placeOfSyntaxError, type CodePlace } from '@glovebox/sandbox';

/** A stack may be as long as its code wants. Its first frames, or its source line, are within. */
const stackSearchedMax = 128 * 1024;
/** V8 begins a stack with the name of the error, `: ` and its message. */
const nameSearchedMax = 1_000;

const reflectSet = Reflect.set;
const placeOfFrame = /^ {4}at (?:.*\()?(?:async )?reactor\.js:(\d{1,7}):(\d{1,7})\)?$/m;

/**
 * The first place in the code of an error's stack. The code may have made the stack itself, so this
 * never throws, and at worst knows no place.
 */
export function placeInCode(error: object): CodePlace | undefined {
  try {
    const stack = stackOf(error);
    const [, line, column] = placeOfFrame.exec(stack) ?? [];
    return placeOfSyntaxError(stack) ?? placeAt(Number(line), Number(column));
  } catch {
    return undefined;
  }
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
