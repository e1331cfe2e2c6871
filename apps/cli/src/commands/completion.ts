import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../context';
import { usage } from '../failure';
import { programOf } from '../program';
import { isSlug, projectAround } from '../project/project';

/** Each shell asks the program itself, so that a new release needs no new script. */
const scripts: Readonly<Record<string, string>> = {
  bash: `# eval "$(glovebox completion bash)" in ~/.bashrc
_glovebox() {
  local found
  COMPREPLY=()
  # compgen -W would carry out what stands in a word.
  while IFS= read -r found; do
    COMPREPLY+=("$found")
  done < <(glovebox complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _glovebox glovebox
`,
  zsh: `# eval "$(glovebox completion zsh)" in ~/.zshrc, after compinit
_glovebox() {
  local -a found
  found=("\${(@f)$(glovebox complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _glovebox glovebox
`,
  fish: `# glovebox completion fish > ~/.config/fish/completions/glovebox.fish
complete -c glovebox -a '(glovebox complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** Prints what teaches a shell the commands, options and names. */
export function completion({ terminal }: Context, _: object, shell: string): void {
  const script = scripts[shell];
  if (script === undefined)
    throw usage(`There is no completion for "${shell}".`, 'bash, zsh or fish?');
  terminal.write(script);
}

/** Prints what may stand in the place of the last word, one a line. */
export function complete({ terminal, cwd }: Context, _: object, ...words: string[]): void {
  terminal.write(
    candidates(words, cwd)
      .map((word) => `${word}\n`)
      .join(''),
  );
}

function candidates(words: readonly string[], cwd: string): string[] {
  const program = programOf(() => {
    throw new Error('Nothing is run.');
  });
  const current = words.at(-1) ?? '';
  const name = words.slice(0, -1).find((word) => !word.startsWith('-'));
  const command = program.commands.find((one) => one.name() === name);
  const matching = (found: readonly string[]): string[] =>
    found.filter((word) => word.startsWith(current)).sort();
  if (current.startsWith('-')) {
    return matching([...optionsOf(program), ...(command ? optionsOf(command) : [])]);
  }
  if (!command) return matching(commandsOf(program));
  if (command.name() === 'completion') return matching(Object.keys(scripts));
  return ['dev', 'invoke', 'open'].includes(command.name()) ? matching(namesIn(cwd)) : [];
}

const optionsOf = ({ options }: Command): string[] =>
  options.flatMap(({ long }) => (long ? [long] : []));

/** Without those that help lists not. */
const commandsOf = (program: Command): string[] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map((command) => command.name());

/** A folder of another name is deployed by nobody, and shells may read its name as a command. */
function namesIn(cwd: string): string[] {
  const root = projectAround(cwd);
  if (root === undefined) return [];
  return ['reactors', 'proxies']
    .map((kind) => join(root, kind))
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []))
    .filter(isSlug);
}
