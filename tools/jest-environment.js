const { setTimeout: sleep } = require('node:timers/promises');
const { TestEnvironment } = require('jest-environment-node');

// The first use opens them, and they stay.
void [process.stdout, process.stderr];

/** A spec fails that leaves a timer, connection or process open, which would keep its process alive. */
class ClosedEnvironment extends TestEnvironment {
  /** Longer than the timers of clients that close, also on a busy machine. */
  static patienceMs = 20_000;
  #before = process.getActiveResourcesInfo();

  /** @override */
  async teardown() {
    await super.teardown();
    const deadline = performance.now() + ClosedEnvironment.patienceMs;
    let left = this.#left();
    while (left.length > 0 && performance.now() < deadline) {
      await sleep(20, undefined, { ref: false });
      left = this.#left();
    }
    if (left.length > 0) throw new Error(`The spec left open: ${left.join(', ')}`);
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
