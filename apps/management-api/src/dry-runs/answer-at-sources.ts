import type { RunnableCode } from '@glovebox/definitions';
import type { DryRunOrder } from '@glovebox/dry-runs';
import type { CodeFrame, CodePlace } from '@glovebox/sandbox';
import { idOfHash } from '../code/code-texts';
import { atSources, type Told } from '../code/shown-places';

/** What an answer of a gateway says of code. */
interface Answer {
  readonly error?: { readonly position?: CodePlace; readonly stack?: readonly CodeFrame[] };
  readonly failed_at?: 'request' | 'answer';
  readonly lines: readonly { readonly text: string; readonly side?: string }[];
}

/** Says places of bundles as those of their sources, in the answer of a dry run. */
export async function answerAtSources(
  where: Parameters<typeof atSources>[0],
  order: DryRunOrder,
  bytes: Buffer,
): Promise<Buffer> {
  const bundles = bundlesOf(order);
  if (bundles.length === 0) return bytes;
  let answer = JSON.parse(bytes.toString('utf8')) as Answer;
  for (const { side, hash } of bundles) {
    const isOf = (one: string | undefined): boolean => one === side;
    const failedSide = answer.failed_at === 'answer' ? 'response' : answer.failed_at;
    const { error } = isOf(failedSide) ? answer : {};
    const told: Told = { ...error, lines: answer.lines.filter((line) => isOf(line.side)) };
    const { lines, position, stack } = await atSources(where, idOfHash(hash), told);
    const left = lines.values() as IterableIterator<Answer['lines'][number]>;
    answer = {
      ...answer,
      ...(error
        ? { error: { ...error, ...(position && { position }), ...(stack && { stack }) } }
        : {}),
      lines: answer.lines.map((line) => (isOf(line.side) ? (left.next().value ?? line) : line)),
    };
  }
  return Buffer.from(JSON.stringify(answer));
}

function bundlesOf(order: DryRunOrder) {
  const sides: readonly (readonly [string | undefined, RunnableCode | null])[] =
    order.kind === 'reactor'
      ? [[undefined, order.formula]]
      : [
          ['request', order.proxy.requestTransform],
          ['response', order.proxy.responseTransform],
        ];
  return sides.flatMap(([side, code]) =>
    code?.bundleHash === undefined ? [] : [{ side, hash: code.bundleHash }],
  );
}
