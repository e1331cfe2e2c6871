import { runtimes, type Runtime, type ThrownError } from '@glovebox/sandbox';

/** The code that ran, as far as advice depends on it. */
export interface RanCode {
  readonly what: string;
  readonly runtime: Runtime;
  /** False: `req.svc` was null. */
  readonly hasSvc: boolean;
}

const namesOf = (names: string): readonly string[] => names.split(' ');

/** The runtimes that brought names without `require`. */
const globalsSince: Partial<Record<Runtime, readonly string[]>> = {
  node20: [
    ...namesOf('fetch FormData Headers Request Response structuredClone crypto Crypto CryptoKey'),
    ...namesOf('SubtleCrypto Blob File BroadcastChannel CustomEvent DOMException ReadableStream'),
    ...namesOf('WritableStream TransformStream TextEncoderStream TextDecoderStream'),
    ...namesOf('CompressionStream DecompressionStream ByteLengthQueuingStrategy'),
    ...namesOf('CountQueuingStrategy PerformanceObserver'),
  ],
  node22: namesOf('WebSocket navigator Iterator'),
  node24: namesOf('URLPattern Float16Array DisposableStack AsyncDisposableStack SuppressedError'),
};

/** What helps beside the message of an error. It quotes nothing that the run knew. */
export function adviceOn(
  error: ThrownError,
  { what, runtime, hasSvc }: RanCode,
): string | undefined {
  const { name, message, code } = error;
  if (name === 'ReferenceError') return adviceOnMissing(message, runtime);
  if (name === 'TypeError' && !hasSvc && readsSvc.test(message)) {
    const owner = what === 'reactor' ? what : 'proxy';
    return `svc is null: the ${owner} has no application.`;
  }
  if (code === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING') {
    return 'import() is not available. Use require.';
  }
  if (name === 'RangeError' && message === 'Array buffer allocation failed') {
    return `The ${what} had no memory left.`;
  }
  return undefined;
}

/** A member of `svc` that was read from null. Another null may have one of that name. */
const readsSvc =
  /^Cannot (?:read properties of null \(reading '(?:tokens|tokenize|detokenize)'\)|destructure property '[^']{1,40}' of '(?:\w+\.)?svc' as it is null)/;

function adviceOnMissing(message: string, runtime: Runtime): string | undefined {
  const name = /^(\w{1,40}) is not defined$/.exec(message)?.[1];
  if (name === undefined) return undefined;
  const since = runtimes.find((newer) => globalsSince[newer]?.includes(name));
  if (since === undefined || runtimes.indexOf(since) <= runtimes.indexOf(runtime)) return undefined;
  return `${name} needs runtime ${since} or newer.`;
}
