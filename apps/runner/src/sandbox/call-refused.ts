/** The runner's own answer to a call of a sandbox. It is made for customers' code to see. */
export class CallRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
