import { invalid } from '@glovebox/problems';

const unmatched = ['deny', 'expressions', 'tunnel'];

/** Refuses a setting that this product knows with a value that it does not. */
export function checkSettings({
  forward_unmatched: value,
}: Readonly<Record<string, string>>): void {
  if (value === undefined || unmatched.includes(value)) return;
  throw invalid({ 'settings.forward_unmatched': [`must be one of ${unmatched.join(', ')}`] });
}
