/** The allowance of one sandbox. It refills with time, and a single large frame may overdraw it. */
export class Allowance {
  private balance: number;
  private countedAt = performance.now();

  constructor(
    private readonly perSecond: number,
    private readonly balanceMax: number,
  ) {
    this.balance = balanceMax;
  }

  /** Milliseconds until the sandbox may spend again. */
  spend(cost: number): number {
    const now = performance.now();
    const earned = ((now - this.countedAt) / 1_000) * this.perSecond;
    this.balance = Math.min(this.balanceMax, this.balance + earned) - cost;
    this.countedAt = now;
    return this.balance >= 0 ? 0 : (-this.balance / this.perSecond) * 1_000;
  }

  refill(): void {
    this.balance = this.balanceMax;
  }
}
