/** ok, something to look at, something that is broken, or nobody can tell. */
type Condition = 'ok' | 'warning' | 'fault' | 'unknown';

/** The outcome of one check. It never holds a secret, and no text of a driver. */
export interface Finding {
  readonly condition: Condition;
  readonly says: string;
  /** What mends it. */
  readonly remedy?: string;
}

export const ok = (says: string): Finding => ({ condition: 'ok', says });
export const warning = (says: string, remedy: string): Finding => ({
  condition: 'warning',
  says,
  remedy,
});
export const fault = (says: string, remedy: string): Finding => ({
  condition: 'fault',
  says,
  remedy,
});
export const unknown = (says: string): Finding => ({ condition: 'unknown', says });

export interface Check {
  readonly name: string;
  /** The signal ends the time of the check. What it throws is a fault. */
  run(signal: AbortSignal): Promise<Finding>;
}
