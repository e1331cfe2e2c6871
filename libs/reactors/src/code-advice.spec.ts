import { runtimes } from '@glovebox/sandbox';
import { testRuntimes } from '@glovebox/testing';
import { adviceOn } from './code-advice';
import { SpecInvocations } from './spec-invocations';

let spec: SpecInvocations;
beforeAll(async () => {
  spec = await SpecInvocations.open();
});
afterAll(() => spec.close());

const globals = (
  'fetch FormData Headers Request Response structuredClone crypto Crypto CryptoKey SubtleCrypto ' +
  'Blob File BroadcastChannel CustomEvent DOMException ReadableStream WritableStream ' +
  'TransformStream TextEncoderStream TextDecoderStream CompressionStream DecompressionStream ' +
  'ByteLengthQueuingStrategy CountQueuingStrategy PerformanceObserver ' +
  'WebSocket navigator Iterator ' +
  'URLPattern Float16Array DisposableStack AsyncDisposableStack SuppressedError ' +
  'URL TextEncoder AbortController Buffer setTimeout queueMicrotask WebAssembly Promise'
).split(' ');

it.each(runtimes.filter((runtime) => testRuntimes.includes(runtime)))(
  'advice names a newer runtime for every global that %s lacks, and for no other',
  async (runtime) => {
    const { raw } = await spec.run(
      `module.exports = ({ args }) => ({ raw: args.globals.filter((name) => typeof globalThis[name] === 'undefined') })`,
      { args: { globals }, now: { formula: { runtime } } },
    );
    const advised = globals.filter((name) =>
      adviceOn(
        { name: 'ReferenceError', message: `${name} is not defined` },
        { what: 'reactor', runtime, hasSvc: true },
      ),
    );
    expect(advised).toEqual(raw);
  },
);
