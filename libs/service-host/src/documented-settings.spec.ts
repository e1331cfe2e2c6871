import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

it('the generated parts of docs/ are up to date with the code', async () => {
  const tool = join(__dirname, '../../../tools/docs.mjs');
  const checked = run(process.execPath, [tool, '--check']).catch((error: unknown) => {
    throw new Error((error as { stderr?: string }).stderr ?? 'tools/docs.mjs did not run');
  });
  await expect(checked).resolves.toEqual({ stdout: '', stderr: '' });
});
