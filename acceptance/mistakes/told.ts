import type { Answer } from '../product';

/** A mistake that developers make, and what its answer must say for it to be mended without help. */
export interface Mistake {
  readonly mistake: string;
  readonly make: () => Promise<Answer>;
  readonly status: number;
  /** What the body says, or this header of the answer. */
  readonly says: RegExp;
  readonly header?: string;
}

/** Makes each mistake, and reads what it is told. */
export function eachIsTold(mistakes: readonly Mistake[]): void {
  it.each(mistakes)('$mistake → $status', async ({ make, status, says, header }) => {
    const answer = await make();
    const told = header === undefined ? answer.text : (answer.headers.get(header) ?? '');
    expect(told).toMatch(says);
    expect(answer.status).toBe(status);
  });
}
