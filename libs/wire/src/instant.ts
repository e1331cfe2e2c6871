const instant = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

const yearsEnd = Date.UTC(10_000, 0);

/** An ISO 8601 time with an offset or Z, on a day of the calendar, before the year 10000 in UTC. */
export function isInstant(value: unknown): value is string {
  const parts = typeof value === 'string' ? instant.exec(value) : null;
  if (!parts) return false;
  // Date.parse reads the 30th of February as the 2nd of March.
  const [, year, month, day] = parts.map(Number);
  const daysInMonth = new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
  return (day ?? 0) <= daysInMonth && Date.parse(parts[0]) < yearsEnd;
}
