// npm run bench -- NAME [arguments of the bench]
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findProgram } from './lib/programs.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** A bench is bench/NAME.mjs; it exports `about` (one line) and `run(args)`. */
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs') && file !== 'run.mjs')
  .map((file) => file.slice(0, -'.mjs'.length))
  .sort();

const tools = {
  wrk: 'apt-get install wrk, brew install wrk, or https://github.com/wg/wrk (make, no dependencies)',
  nginx: 'apt-get install nginx-light, apk add nginx, or brew install nginx',
};

const [name, ...args] = process.argv.slice(2);

if (name === undefined || name === '--help' || name === '-h') {
  await showHelp();
} else if (!names.includes(name)) {
  console.error(
    names.length === 0
      ? `There is no bench "${name}": none has been written yet.`
      : `There is no bench "${name}". There are: ${names.join(', ')}`,
  );
  process.exitCode = 1;
} else {
  tellMissing();
  const bench = await load(name);
  await bench.run(args);
}

async function showHelp() {
  console.log('npm run bench -- NAME [arguments]\n');
  if (names.length === 0) console.log('No bench has been written yet: add bench/NAME.mjs.');
  for (const each of names) console.log(`  ${each.padEnd(16)} ${(await load(each)).about}`);
  console.log();
  tellMissing();
}

function tellMissing() {
  for (const [tool, how] of Object.entries(tools)) {
    if (!findProgram(tool)) console.log(`${tool} is missing; benches that compare need it: ${how}`);
  }
}

/** @param {string} each */
function load(each) {
  return import(pathToFileURL(join(folder, `${each}.mjs`)).href);
}
