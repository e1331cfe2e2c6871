const minuteMs = 60_000;

/** However often something happens, each reason is one line a minute, which counts the others. */
export function aLineAMinute(
  say: (reason: string, before: number) => void,
): (reason: string) => void {
  const lines = new Map<string, { readonly at: number; unsaid: number }>();
  return (reason) => {
    const now = performance.now();
    const last = lines.get(reason);
    if (last !== undefined && now - last.at < minuteMs) {
      last.unsaid += 1;
      return;
    }
    lines.set(reason, { at: now, unsaid: 0 });
    say(reason, last?.unsaid ?? 0);
  };
}
