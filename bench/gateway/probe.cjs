// Loaded into a gateway of the bench by --require: answers questions about the process.
const { monitorEventLoopDelay } = require('node:perf_hooks');

const resolutionMs = 1;
const pauses = monitorEventLoopDelay({ resolution: resolutionMs });
pauses.enable();

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
};

/** @param {any} message */
const answer = ({ id, question }) =>
  process.send?.({ id, answer: questions[/** @type {keyof typeof questions} */ (question)]() });

process.on('message', answer);
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
