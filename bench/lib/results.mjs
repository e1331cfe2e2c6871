import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repoRoot = fileURLToPath(new URL('../..', import.meta.url));

/** What the figures belong to: they say nothing without it. */
export function circumstances(command, versions) {
  return {
    command,
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: repoRoot })
      .toString()
      .trim(),
    machine: `${cpus().length} cores (${cpus()[0].model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    versions: { Node: process.versions.node, ...versions },
  };
}

export function writeJson(name, document) {
  const file = join(repoRoot, 'dist', 'bench', `${name}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  return file;
}

/** Replaces what stands between the markers of the section, or adds the section at the end. */
export function writeSection(name, markdown) {
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

/** A table as prettier would write it. */
export function markdownTable(columns, rows) {
  const cells = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((row) => row[at].length)));
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
}
