/** Reads the driver's error, which TypeORM wraps. */
export function driverErrorOf(error: unknown): {
  readonly code?: string;
  readonly message?: string;
} {
  if (typeof error !== 'object' || error === null) return {};
  const { code, driverError, message } = error as Record<string, unknown>;
  if (driverError !== undefined) return driverErrorOf(driverError);
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}
