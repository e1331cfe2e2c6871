import { existsSync } from 'node:fs';

/** A program of a package of Debian, which no bare machine has. */
export function findProgram(program: string, variable: string, ofPackage: string): string {
  const found = [process.env[variable], `/usr/bin/${program}`].find(
    (path) => path && existsSync(path),
  );
  if (found !== undefined) return found;
  throw new Error(
    `This test needs ${program}: install it (apt-get install ${ofPackage}) or set ${variable} to its path.`,
  );
}
