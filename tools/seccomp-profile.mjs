// Makes the seccomp profile under which the runner reaches level 3 in a container. See --help.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { levelThreeProfile } from './lib/images/seccomp.mjs';
import { script } from './lib/progress.mjs';
import { repoRoot } from './lib/repo.mjs';

const debian = '/usr/share/containers/seccomp.json';
const profile = join(repoRoot, 'k8s', 'components', 'level-3', 'nodes', 'glovebox-level-3.json');

const help = `
usage: node tools/seccomp-profile.mjs [DEFAULT [FILE]]

Adds the calls that bubblewrap needs to the default profile of an engine, and writes the result to
FILE (${profile}).
DEFAULT has the form of Docker and Podman. Without it, it is that of Debian's package
golang-github-containers-common, ${debian}.`;

await script(help, ([engineDefault = debian, file = profile]) => {
  const made = levelThreeProfile(JSON.parse(readFileSync(engineDefault, 'utf8')));
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`);
});
