const namesMax = 200;
const progressMs = 5_000;
const reasonsMax = 100;
const controls = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Names come from elsewhere: they cannot move the cursor.
 *
 * @param {unknown} text
 */
const plain = (text) => String(text).replace(controls, '?').slice(0, namesMax);

/** Says what became of each resource, and counts. */
export class Report {
  /** @type {Map<string, { copied: number, there: number, skipped: Map<string, number> }>} */
  #counts = new Map();
  #lastProgress = performance.now();
  #isJson;
  hasSkipped = false;

  /** @param {boolean} isJson */
  constructor(isJson) {
    this.#isJson = isJson;
  }

  /**
   * @param {string} kind
   * @param {unknown} from
   * @param {unknown} name
   * @param {unknown} id
   */
  copied(kind, from, name, id) {
    this.#of(kind).copied += 1;
    this.#say({ copied: kind, from, name, id });
  }

  /** Tokens are many, and keep their ids: only their number is told. */
  copiedToken() {
    this.#of('token').copied += 1;
  }

  /** @param {string} kind */
  there(kind) {
    this.#of(kind).there += 1;
  }

  /**
   * @param {string} kind
   * @param {unknown} from
   * @param {string} why
   */
  skipped(kind, from, why) {
    const { skipped } = this.#of(kind);
    const reason = skipped.has(why) || skipped.size < reasonsMax ? why : 'other reasons';
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    this.hasSkipped = true;
    this.#say({ skipped: kind, from, why });
  }

  /**
   * @param {string} kind
   * @param {unknown} from
   * @param {string} text
   */
  note(kind, from, text) {
    this.#say({ note: kind, from, text });
  }

  /** Says now and then how far it is. */
  progress() {
    if (performance.now() - this.#lastProgress < progressMs) return;
    this.#lastProgress = performance.now();
    const { copied, there } = this.#of('token');
    process.stderr.write(`… tokens: ${copied} copied, ${there} were there\n`);
  }

  /** The sums, at the end. */
  sum() {
    for (const [kind, { copied, there, skipped }] of this.#counts) {
      const reasons = Object.fromEntries([...skipped].map(([why, times]) => [plain(why), times]));
      const left = [...skipped.values()].reduce((sum, times) => sum + times, 0);
      const words = `${kind}: ${copied} copied, ${there} were there, ${left} skipped`;
      this.#write({ sum: kind, copied, there, skipped: left, reasons }, [
        ...[words],
        ...Object.entries(reasons).map(([why, times]) => `  ${times} × ${why}`),
      ]);
    }
  }

  /** @param {Readonly<Record<string, unknown>>} event */
  #say(event) {
    const shown = Object.entries(event).flatMap(([member, value]) =>
      value === undefined ? [] : [[member, plain(value)]],
    );
    const [first = [], ...others] = shown;
    this.#write(Object.fromEntries(shown), [
      [...first, ...others.map(([, text]) => text)].join(' '),
    ]);
  }

  /**
   * @param {object} value
   * @param {readonly string[]} lines
   */
  #write(value, lines) {
    process.stdout.write(`${this.#isJson ? JSON.stringify(value) : lines.join('\n')}\n`);
  }

  /** @param {string} kind */
  #of(kind) {
    const counts = this.#counts.get(kind) ?? { copied: 0, there: 0, skipped: new Map() };
    this.#counts.set(kind, counts);
    return counts;
  }
}
