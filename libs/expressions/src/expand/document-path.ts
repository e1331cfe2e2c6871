/** The number of steps that are named, counted from the end of a path. */
const namedStepsMax = 8;

/** Excludes names that could be data, such as one of many digits or an address. */
const tellableName = /^(?!.*\d{4})[A-Za-z_][\w-]{0,39}$/;

interface Step {
  readonly at: number;
  readonly name: string | undefined;
}

/** The path to the part of a document that is being read. */
export class DocumentPath {
  readonly #steps: Step[] = [];

  push(at: number, name?: string): void {
    this.#steps.push({ at, name });
  }

  pop(): void {
    this.#steps.pop();
  }

  /** `a.0.b`. `#2` is the third member of an object, where its name must not be repeated. */
  get text(): string {
    const steps = this.#steps.slice(-namedStepsMax).map(({ at, name }) => {
      if (name === undefined) return String(at);
      return tellableName.test(name) ? name : `#${at}`;
    });
    return (this.#steps.length > namedStepsMax ? ['…', ...steps] : steps).join('.');
  }
}
