const { setTimeout: sleep } = require('node:timers/promises');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

// The first use opens them, and they stay.
void [process.stdout, process.stderr];

keepCompiled();

/** A spec fails that leaves a timer, connection or process open, which would keep its process alive. */
class ClosedEnvironment extends TestEnvironment {
  /** Longer than the timers of clients that close. */
  static patienceMs = 5_000;
  #before = process.getActiveResourcesInfo();
  /** @type {string[]} */
  #failed = [];

  /** @param {import('@jest/types').Circus.Event} event */
  handleTestEvent(event) {
    if (event.name !== 'test_done') return;
    const [error] = event.test.errors.flat().filter(Boolean);
    if (error) this.#failed.push(`${event.test.name}: ${error.stack ?? error}`);
  }

  /** @override */
  async teardown() {
    await super.teardown();
    const deadline = performance.now() + ClosedEnvironment.patienceMs;
    let left = this.#left();
    while (left.length > 0 && performance.now() < deadline) {
      await sleep(20, undefined, { ref: false });
      left = this.#left();
    }
    if (left.length === 0) return;
    // Jest shows this error alone, and a test that failed has often not tidied up.
    const failed = this.#failed.map((each) => `\n\nIt had failed before: ${each}`);
    throw new Error(`The spec left open: ${left.join(', ')}${failed.join('')}`);
  }

  #left() {
    const open = process.getActiveResourcesInfo();
    for (const name of this.#before) {
      const at = open.indexOf(name);
      if (at >= 0) open.splice(at, 1);
    }
    return open;
  }
}

module.exports = ClosedEnvironment;

/**
 * Every spec loads its modules anew, and those of a worker are mostly the same: V8 takes what it
 * compiled for an earlier one. That is a third of the time of loading.
 */
function keepCompiled() {
  /** @type {Map<string | undefined, { code: string, data: Buffer }>} */
  const kept = new Map();
  const { compileFunction } = vm;
  vm.compileFunction = (code, parameters, options) => {
    const earlier = kept.get(options?.filename);
    if (earlier?.code === code) {
      return compileFunction(code, parameters, { ...options, cachedData: earlier.data });
    }
    const compiled = compileFunction(code, parameters, { ...options, produceCachedData: true });
    if (compiled.cachedData) kept.set(options?.filename, { code, data: compiled.cachedData });
    return compiled;
  };
}
