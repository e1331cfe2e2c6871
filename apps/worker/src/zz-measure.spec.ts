
import { claimRuns } from '@glovebox/runs';
import { startRunner } from '@glovebox/testing';
import { executeRun } from './execute-run';
import { startSpecRuns } from './spec-runs';
import { startSpecWorker } from './spec-worker';
it('measure', async () => {
  const runner = await startRunner();
  const worker = await startSpecWorker({ RUNNER_URLS: runner.url, RUNNER_SECRET: runner.secret, LOG_LEVEL: 'silent' });
  const runs = await startSpecRuns(worker);
  await worker.define({ ...runs.formula, code: 'module.exports = ({ args }) => { if (!args.fine) throw new Error("x"); return {} }', codeHash: 'm' });
  const lsn = async () => (await worker.admin.query<{ l: string }>("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS l"))[0]?.l;
  const out: string[] = [];
  for (const bytes of [200, 2_000, 100_000]) for (const [fine, hours] of [[true, 0], [true, 24], [false, 0], [false, 24]] as const) {
    const n = 100;
    for (let i = 0; i < n; i++) await runs.accept({ fine, s: 'x'.repeat(bytes) });
    await worker.admin.query('TRUNCATE webhook_deliveries'); await worker.admin.query('CHECKPOINT');
    const claimed = []; while (claimed.length < n) claimed.push(...await claimRuns(worker.ctx.database, runs.tenantId, 50));
    const ctx = { ...worker.ctx, config: { ...worker.ctx.config, RUN_ARGUMENTS_KEPT: hours } };
    const a = Number(await lsn()); const t = performance.now();
    for (let i = 0; i < n; i += 10) await Promise.all(claimed.slice(i, i + 10).map((r) => executeRun(ctx, r)));
    const ms = performance.now() - t; const b = Number(await lsn());
    out.push(`args ${bytes} fine=${fine} hours=${hours}: WAL ${Math.round((b - a) / n)} B/run, ${(ms / n).toFixed(2)} ms/run`);
  }
  process.stdout.write(out.join('\n') + '\n');
  await worker.close(); await runner.stop();
}, 300000);
