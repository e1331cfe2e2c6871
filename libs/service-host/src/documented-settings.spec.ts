import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

it('docs/ says what the settings of the apps declare: npm run docs writes it', async () => {
  const tool = join(__dirname, '../../../tools/docs.mjs');
  const checked = run(process.execPath, [tool, '--check']).catch((error: unknown) => {
    throw new Error((error as { stderr?: string }).stderr ?? 'tools/docs.mjs did not run');
  });
  await expect(checked).resolves.toEqual({ stdout: '', stderr: '' });
});
