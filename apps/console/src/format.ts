const locale = 'en-GB';
const numbers = new Intl.NumberFormat(locale);
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
const dayAndClock = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const exact = new Intl.DateTimeFormat(locale, {
  dateStyle: 'full',
  timeStyle: 'long',
});

export const count = (value: number) => numbers.format(value);

/** `1 call`, `2 calls`; words with another plural give it. */
export const plural = (value: number, one: string, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

export function milliseconds(value: number | undefined): string {
  if (value === undefined) return '–';
  if (value < 1) return '< 1 ms';
  if (value < 1000) return `${Math.round(value)} ms`;
  if (value < 60_000) return `${(value / 1000).toFixed(value < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(value / 60_000)} min ${Math.round((value % 60_000) / 1000)} s`;
}

export function bytes(value: number | undefined): string {
  if (value === undefined) return '–';
  if (value < 1024) return plural(value, 'byte');
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)} KiB`;
  return `${(value / 1024 / 1024).toFixed(1)} MiB`;
}

export function share(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  const percent = (part / whole) * 100;
  if (percent < 0.1) return '< 0.1 %';
  return `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

/** As short as today, this year or another one allows, in the reader's zone. */
export function shortTime(at: string): string {
  const date = new Date(at);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return clock.format(date);
  return date.getFullYear() === now.getFullYear() ? dayAndClock.format(date) : day.format(date);
}

export const exactTime = (at: string) => `${exact.format(new Date(at))} (${at})`;

const steps: [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** `3 minutes ago`, `in 2 hours`. */
export function relativeTime(at: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  const [size, unit] = steps.find(([size]) => Math.abs(seconds) >= size) ?? [1, 'second'];
  return seconds === 0 ? 'now' : relative.format(Math.trunc(seconds / size), unit);
}

const cutBeyond = 18;

/** Long ids are cut in the middle: their ends tell them apart. */
export const cutMiddle = (id: string) =>
  id.length <= cutBeyond ? id : `${id.slice(0, 8)}…${id.slice(-6)}`;
