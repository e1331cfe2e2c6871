// Rebuilds native/prebuilt. Needs gcc, and gcc-aarch64-linux-gnu for arm64.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const compilers = {
  x64: process.arch === 'x64' ? 'gcc' : 'x86_64-linux-gnu-gcc',
  arm64: process.arch === 'arm64' ? 'gcc' : 'aarch64-linux-gnu-gcc',
};
/** Nothing of the machine may get into the binaries: no paths, no build ids, no defaults of a distribution. */
const flags = [
  ...[
    '-static',
    '-no-pie',
    '-fno-pie',
    '-nostdlib',
    '-ffreestanding',
    '-fno-builtin',
    '-std=gnu17',
  ],
  ...['-fno-stack-protector', '-fno-asynchronous-unwind-tables'],
  ...['-Os', '-s', '-Wall', '-Wextra', '-Werror', '-Wl,--build-id=none', '-Wl,-z,noexecstack'],
];
/** The second one serves the specs alone. */
const programs = ['sandbox-exec', 'try-syscalls'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' }, to: { type: 'string' } },
});
if (values.help) {
  const architectures = Object.keys(compilers).join('|');
  console.log(`usage: node apps/runner/native/build.mjs [--to FOLDER] [${architectures}]...`);
  process.exit(0);
}

const folder = import.meta.dirname;
const target = values.to ?? join(folder, 'prebuilt');
const wanted = positionals.length > 0 ? positionals : Object.keys(compilers);
for (const architecture of wanted) {
  for (const program of programs) {
    const file = join(target, `${program}-${architecture}`);
    const compiler = compilers[/** @type {keyof typeof compilers} */ (architecture)];
    const define = `-DSOURCE_SHA256="${sourceHash(program)}"`;
    execFileSync(compiler, [...flags, define, `${program}.c`, '-o', file], {
      cwd: folder,
      stdio: 'inherit',
    });
    console.log(`built ${file}`);
  }
}

/**
 * The hash of a program and of all headers.
 *
 * @param {string} program
 */
function sourceHash(program) {
  const headers = readdirSync(folder).filter((file) => file.endsWith('.h'));
  const hash = createHash('sha256');
  for (const file of [`${program}.c`, ...headers.sort()]) {
    hash.update(readFileSync(join(folder, file)));
  }
  return hash.digest('hex');
}
