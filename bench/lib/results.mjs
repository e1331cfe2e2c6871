import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as timings from './turns.mjs';

const repoRoot = fileURLToPath(new URL('../..', import.meta.url));

const rough =
  'Rough: --quick warms up for 2 turns instead of 10 and takes 3 rounds instead of 11. It finds faults of ' +
  'the bench; it says nothing of a goal.';

/**
 * Runs a bench: reads its options, prints the table, writes the JSON and the page.
 *
 * @param {import('../types.js').Bench} bench
 * @param {readonly string[]} args
 * @param {(options: import('../types.js').BenchOptions) => Promise<import('../types.js').Measured>} measure
 */
export async function runBench({ name, heading, goals, placement }, args, measure) {
  const { only, quick, write } = parse(args, goals);
  const command = ['npm run bench --', name, ...args].join(' ');
  const begunAt = performance.now();
  if (quick) console.log(rough);
  const measured = await measure({
    quick,
    timing: quick ? timings.quick : timings.whole,
    wants: (goal) => only.includes(goal),
  });
  measured.checks.sort((a, b) => goals.indexOf(a.goal) - goals.indexOf(b.goal));
  const results = {
    ...circumstances(command, measured.versions),
    seconds: Math.round((performance.now() - begunAt) / 1_000),
    ...(quick ? { rough } : {}),
    checks: measured.checks,
    details: measured.details,
  };
  const notes = `${placement}${quick ? `\n${rough}` : ''}`;
  console.log(`\n${tableOf(results.checks)}\n\n${notes}`);
  console.log(`${results.seconds} s. JSON: ${writeJson(name, results)}`);
  if (write) console.log(`Written: ${writeSection(name, pageOf(results, { heading, placement }))}`);
}

/**
 * @param {readonly string[]} args
 * @param {readonly string[]} goals
 */
function parse(args, goals) {
  const at = args.indexOf('--only');
  const only = at < 0 ? goals : (args[at + 1] ?? '').split(',');
  const rest = args.filter((_, place) => at < 0 || (place !== at && place !== at + 1));
  const unknown = [
    ...rest.filter((arg) => !['--quick', '--write'].includes(arg)),
    ...only.filter((goal) => !goals.includes(goal)),
  ];
  if (unknown.length > 0) refuse(`Unknown: ${unknown.join(', ')}. Goals: ${goals.join()}`);
  const write = rest.includes('--write');
  if (write && args.length > 1) refuse('--write keeps full runs: no other option');
  if (availableParallelism() < 2) refuse('The target needs a core of its own: 2 cores');
  return { only, write, quick: rest.includes('--quick') };
}

/**
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  console.error(message);
  process.exit(1);
}

/**
 * The conditions of a run, without which its figures mean nothing.
 *
 * @param {string} command
 * @param {Readonly<Record<string, string>> | undefined} versions
 */
function circumstances(command, versions) {
  return {
    command,
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: repoRoot })
      .toString()
      .trim(),
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    versions: { Node: process.versions.node, ...versions },
  };
}

/**
 * @param {ReturnType<typeof circumstances> & { seconds: number, checks: readonly import('../types.js').Check[] }} results
 * @param {Pick<import('../types.js').Bench, 'heading' | 'placement'>} bench
 */
function pageOf(results, { heading, placement }) {
  const { command, date, commit, machine, versions, seconds, checks } = results;
  const listed = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `## ${heading}

\`${command}\`, ${date}, commit ${commit}, ${seconds} s. ${machine}; ${listed.join(', ')}.

${placement}

${tableOf(checks)}`;
}

/** @param {readonly import('../types.js').Check[]} checks */
function tableOf(checks) {
  /** @type {Exclude<keyof import('../types.js').Check, 'figure'>[]} */
  const columns = ['goal', 'what', 'reached', 'wanted', 'met', 'held'];
  return markdownTable(
    ['Goal', 'What', 'Reached', 'Wanted', 'Met', 'Held back by'],
    checks.map((row) => columns.map((column) => row[column])),
  );
}

/**
 * A table as the formatter leaves it.
 *
 * @param {readonly string[]} columns
 * @param {readonly (readonly string[])[]} rows
 */
function markdownTable(columns, rows) {
  const widths = columns.map((name, at) =>
    Math.max(3, name.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  /** @param {readonly string[]} row */
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(columns), rule, ...rows.map(line)].join('\n');
}

/**
 * @param {string} name
 * @param {unknown} document
 */
function writeJson(name, document) {
  const file = join(repoRoot, 'dist', 'bench', `${name}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  return file;
}

/**
 * Replaces the text between the markers of the section, or adds the section at the end.
 *
 * @param {string} name
 * @param {string} markdown
 */
function writeSection(name, markdown) {
  const file = join(repoRoot, 'docs', 'benchmarks.md');
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const section = `${begin}\n\n${markdown.trim()}\n\n${end}`;
  const before = readFileSync(file, 'utf8');
  const known = before.indexOf(begin) >= 0 && before.indexOf(end) > before.indexOf(begin);
  const after = known
    ? before.slice(0, before.indexOf(begin)) +
      section +
      before.slice(before.indexOf(end) + end.length)
    : `${before.trimEnd()}\n\n${section}\n`;
  writeFileSync(file, after);
  return file;
}
