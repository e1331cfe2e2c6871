// Loaded into a process of the bench by --require: answers questions about the process.
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { GCProfiler, getHeapStatistics } = require('node:v8');

const resolutionMs = 1;
const pauses = monitorEventLoopDelay({ resolution: resolutionMs });
pauses.enable();

/**
 * The collections since the last question about them.
 *
 * @type {{ profiler: import('node:v8').GCProfiler, usedBytes: number } | undefined}
 */
let collections;

const questions = {
  memory() {
    global.gc?.();
    global.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return { liveBytes: heapUsed + external };
  },
  /** The longest pause since the last question. */
  pause() {
    const longestMs = Math.max(0, pauses.max / 1e6 - resolutionMs);
    pauses.reset();
    return { longestMs };
  },
  /** The bytes that were taken from V8's heap since the last question. */
  allocated() {
    const bytes = collections === undefined ? 0 : allocatedDuring(collections);
    const profiler = new GCProfiler();
    profiler.start();
    collections = { profiler, usedBytes: getHeapStatistics().used_heap_size };
    return { bytes };
  },
};

/** @param {NonNullable<typeof collections>} begun */
function allocatedDuring({ profiler, usedBytes }) {
  const nowBytes = getHeapStatistics().used_heap_size;
  let bytes = 0;
  let leftBytes = usedBytes;
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - leftBytes;
    leftBytes = afterGC.heapStatistics.usedHeapSize;
  }
  return bytes + nowBytes - leftBytes;
}

/** @param {any} message */
const answer = ({ id, question }) =>
  process.send?.({ id, answer: questions[/** @type {keyof typeof questions} */ (question)]() });

process.on('message', answer);
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
