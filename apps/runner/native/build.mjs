// Rebuilds native/prebuilt from native/sandbox-exec.c. Needs gcc, and gcc-aarch64-linux-gnu for arm64.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const compilers = {
  x64: process.arch === 'x64' ? 'gcc' : 'x86_64-linux-gnu-gcc',
  arm64: process.arch === 'arm64' ? 'gcc' : 'aarch64-linux-gnu-gcc',
};
const flags = [
  ...['-static', '-nostdlib', '-ffreestanding', '-fno-stack-protector', '-fno-builtin'],
  ...['-fno-asynchronous-unwind-tables', '-Os', '-s', '-Wall', '-Wextra', '-Werror'],
  ...['-Wl,--build-id=none', '-Wl,-z,noexecstack'],
];

if (process.argv.includes('--help')) {
  console.log(`usage: node apps/runner/native/build.mjs [${Object.keys(compilers).join('|')}]...`);
  process.exit(0);
}

const source = join(import.meta.dirname, 'sandbox-exec.c');
const sha256 = createHash('sha256').update(readFileSync(source)).digest('hex');
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(compilers);

for (const architecture of wanted) {
  const target = join(import.meta.dirname, 'prebuilt', `sandbox-exec-${architecture}`);
  const define = `-DSOURCE_SHA256="${sha256}"`;
  const compiler = compilers[/** @type {keyof typeof compilers} */ (architecture)];
  execFileSync(compiler, [...flags, define, source, '-o', target], {
    stdio: 'inherit',
  });
  console.log(`built ${target}`);
}
