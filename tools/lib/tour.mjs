import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from './repo.mjs';

/**
 * The tour is that of the README: its blocks `sh tour`, each with the paragraph before it and the
 * output that the page shows after it.
 *
 * @returns {import('./types.js').TourStep[]}
 */
export function tour(page = readFileSync(join(repoRoot, 'README.md'), 'utf8')) {
  /** @type {import('./types.js').TourStep[]} */
  const steps = [];
  let paragraph = '';
  for (const [text, info, block = ''] of page.matchAll(/^```(.*)\n([^]*?)^```$|^(?:.+\n)+/gm)) {
    const last = steps.at(-1);
    if (info === undefined) paragraph = text.trimEnd();
    else if (info === 'sh tour')
      steps.push({ comment: plain(paragraph), command: block.trimEnd() });
    else if (info === 'json output' && last) last.output = block.trimEnd();
  }
  return steps;
}

/**
 * Takes the marks of Markdown out.
 *
 * @param {string} paragraph
 */
const plain = (paragraph) =>
  paragraph.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, '$1 ($2)');

/**
 * The tour as it is printed. All but its commands is a comment, so that the whole can be pasted.
 *
 * @param {readonly import('./types.js').TourStep[]} steps
 */
export const tourText = (steps) =>
  steps
    .map(({ comment, command, output }) =>
      [
        commented('# ', comment),
        command,
        ...(output === undefined ? [] : [commented('#   ', output)]),
      ].join('\n'),
    )
    .join('\n\n');

/**
 * @param {string} mark
 * @param {string} text
 */
const commented = (mark, text) => text.replaceAll(/^/gm, mark);
