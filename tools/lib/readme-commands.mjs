// Prints the commands of a page as a JSON array: node tools/lib/readme-commands.mjs README.md
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The commands of a Markdown page that a test pastes into a shell: the lines of all blocks fenced
 * as ```sh tour. A backslash at the end joins a line with the next one.
 *
 * @param {string} markdown
 */
function readmeCommands(markdown) {
  const blocks = markdown.matchAll(/^```sh tour[^\S\n]*\n([\s\S]*?)^```[^\S\n]*$/gm);
  return [...blocks].flatMap(([, block = '']) => commandsOf(block));
}

/** @param {string} block */
function commandsOf(block) {
  return block
    .replaceAll(/\\\n[^\S\n]*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const page = readFileSync(process.argv[2] ?? 'README.md', 'utf8');
  console.log(JSON.stringify(readmeCommands(page)));
}
