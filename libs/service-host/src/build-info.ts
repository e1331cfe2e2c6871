import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  readonly node: string;
}

/** What was built, from the file that the build puts beside the bundle. Specs run without one. */
export const buildInfo: BuildInfo = { ...readBuild(), node: process.versions.node };

function readBuild(): Omit<BuildInfo, 'node'> {
  try {
    const text = readFileSync(join(__dirname, 'build.json'), 'utf8');
    const { version, commit } = JSON.parse(text) as Record<string, unknown>;
    return { version: String(version), commit: String(commit) };
  } catch {
    return { version: 'unknown', commit: 'unknown' };
  }
}
