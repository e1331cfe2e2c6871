/** What the runner itself answers to a call of a sandbox: made for the code in it to see. */
export class CallRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
