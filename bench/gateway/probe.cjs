// Loaded into a gateway that the bench starts (--require): what cannot be seen from outside.
const { monitorEventLoopDelay } = require('node:perf_hooks');

const resolutionMs = 1;
const pauses = monitorEventLoopDelay({ resolution: resolutionMs });
pauses.enable();

const questions = {
  memory() {
    global.gc();
    global.gc();
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

process.on('message', ({ id, question }) => process.send({ id, answer: questions[question]() }));
process.on('disconnect', () => process.exit(1));
process.channel.unref();
