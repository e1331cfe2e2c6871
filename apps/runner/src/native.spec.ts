import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const native = join(__dirname, '../native');
const fileOf = (program: string, architecture: string, folder = join(native, 'prebuilt')): string =>
  join(folder, `${program}-${architecture}`);
const helper = fileOf('sandbox-exec', process.arch);
const programs = ['sandbox-exec', 'try-syscalls'].flatMap((program) =>
  ['x64', 'arm64'].map((architecture): [string, string] => [program, architecture]),
);

describe.each(programs)('%s for %s', (program, architecture) => {
  const committed = readFileSync(fileOf(program, architecture));

  it('is built from the source that is committed', () => {
    const headers = readdirSync(native).filter((file) => file.endsWith('.h'));
    const hash = createHash('sha256');
    for (const file of [`${program}.c`, ...headers.sort()]) {
      hash.update(readFileSync(join(native, file)));
    }
    expect(committed.toString('latin1')).toContain(
      `${program} source-sha256=${hash.digest('hex')}`,
    );
  });

  it('is the same when it is built again, where its compiler is installed', () => {
    // The PATH of a test run holds no compiler.
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
    const compiler = architecture === process.arch ? 'gcc' : crossCompilers[architecture];
    const version = spawnSync(compiler ?? '', ['--version'], { env, encoding: 'utf8' });
    const isInstalled = version.error === undefined;
    const folder = mkdtempSync(join(tmpdir(), 'glovebox-native-'));
    try {
      const build = [join(native, 'build.mjs'), '--to', folder, architecture];
      const { status, stderr } = spawnSync(process.execPath, build, { env, encoding: 'utf8' });
      if (!isInstalled) return expect(stderr).toContain('ENOENT');
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const built = readFileSync(fileOf(program, architecture, folder));
      // Another compiler arranges the same program in another way.
      if (compilerOf(built) === compilerOf(committed)) expect(built.equals(committed)).toBe(true);
      else expect(sourceOf(built)).toBe(sourceOf(committed));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

const crossCompilers: Readonly<Record<string, string>> = {
  x64: 'x86_64-linux-gnu-gcc',
  arm64: 'aarch64-linux-gnu-gcc',
};
const compilerOf = (binary: Buffer): string | undefined =>
  /GCC: \([^)]*\) [\d.]+/.exec(binary.toString('latin1'))?.[0];
const sourceOf = (binary: Buffer): string | undefined =>
  /source-sha256=[0-9a-f]{64}/.exec(binary.toString('latin1'))?.[0];

describe('sandbox-exec', () => {
  it('names the source that it was built from', () => {
    const version = execFileSync(helper, ['--version'], { encoding: 'utf8' });
    expect(version).toMatch(/^sandbox-exec source-sha256=[0-9a-f]{64}\n$/);
  });

  it.each([
    ['an option that it does not know', ['--what', 'x', '--', '/bin/true']],
    ['a path that is not there', ['--uid', '65534', '--read', '/not/there', '--', '/bin/true']],
    ['a command outside its paths', ['--uid', '65534', '--', '/bin/true']],
    ['no command', ['--uid', '65534']],
    ['a number that is none', ['--uid', 'x', '--', '/bin/true']],
    [
      'a newer Landlock than the kernel has',
      ['--uid', '65534', '--landlock-abi', '999', '--', '/'],
    ],
  ])('starts nothing and reports the reason when it gets %s', (_, parameters) => {
    const isRoot = process.getuid?.() === 0;
    const wanted = isRoot ? parameters : parameters.filter((p) => p !== '--uid' && p !== '65534');
    const { status, stderr } = spawnSync(helper, wanted, { encoding: 'utf8' });
    expect(status).toBe(126);
    expect(stderr).toMatch(/^sandbox-exec: refused, .+\n$/);
  });
});
