import type { HeldCounts } from '@glovebox/runs';
import type { Restored } from './after-restore';
import type { Changes } from './what-changed';

const verdicts = {
  served: 'Nothing speaks against this database.',
  promoted: 'This database is a standby that was promoted, with all that was seen of it.',
  copied: 'This database was restored: it was written in another place.',
  older: 'This database was restored, or lost commits: more was seen of it than it has.',
  unseen: 'This database has a new timeline, and nobody saw what it had before.',
  other: 'This database does not know the epoch that was seen last.',
} as const;

/** Tells an operator what was found and done. */
export function describeRestored(restored: Restored): string {
  const { findings, isAccepted, heldNow, released, failed, endedKeys } = restored;
  const lines: string[] = [];
  if (findings) {
    const { verdict, has, seen, changes, keysUsedLast, held } = findings;
    lines.push(verdicts[verdict], `It has version ${has.version} of the definitions.`);
    if (seen) {
      lines.push(
        `Processes saw version ${seen.version}. Its last sign is ${Math.max(0, seen.pulse - has.pulse)} ` +
          'seconds of work older than the last one that they saw.',
      );
    } else lines.push('Redis does not tell what processes saw.');
    lines.push(...describeChanges(changes));
    if (keysUsedLast.length > 0) lines.push('', 'Keys that it saw used last:');
    for (const { id, applicationId, tenantId, lastUsedAt } of keysUsedLast) {
      lines.push(
        `  ${lastUsedAt.toISOString()}  key ${id}, application ${applicationId}, tenant ${tenantId}`,
      );
    }
    if (held.length > 0) lines.push('', 'Held, by tenant:');
    for (const { tenantId, runs, deliveries, oldest } of held) {
      lines.push(
        `  ${tenantId}  ${countsOf({ runs, deliveries })}, the oldest of ${oldest.toISOString()}`,
      );
    }
    lines.push('');
  }
  if (heldNow) lines.push(`Held now: ${countsOf(heldNow)}. --release or --fail decides on them.`);
  if (isAccepted === true)
    lines.push('Accepted, in a new epoch: apps become ready within a second.');
  if (isAccepted === false) lines.push('Nothing was changed. --force accepts it all the same.');
  if (released) lines.push(`Released: ${countsOf(released)}.`);
  if (failed) lines.push(`Failed: ${countsOf(failed)}.`);
  if (endedKeys !== undefined) {
    const { keys, newerApplications } = endedKeys;
    lines.push(`Ended: ${keys} keys. tenant-key (npm run tenant:key) makes a new one.`);
    if (newerApplications.length > 0) {
      lines.push(
        `Keys of ${newerApplications.length} applications still work. A newer release wrote them: ` +
          'repeat the command with that release, or delete the applications.',
        ...newerApplications.map((id) => `  application ${id}`),
      );
    }
  }
  return lines.join('\n').trim();
}

const countsOf = ({ runs, deliveries }: HeldCounts): string =>
  `${runs} runs, ${deliveries} webhooks`;

function describeChanges(changes: Changes | undefined): string[] {
  const unknown =
    'Of tokens, and of what Redis no longer has, nothing can be known: a token that was deleted after ' +
    'the copy is there again.';
  if (!changes) return ['Redis does not answer: what has changed is not known.', unknown];
  const { inRedis, keys, changed, missing, lost } = changes;
  if (inRedis === 0) return ['Redis holds no definitions: what has changed is not known.', unknown];
  const lines = ['', `Compared with the ${inRedis} definitions in Redis:`];
  lines.push(`  ${keys.count} applications had other keys`);
  for (const { applicationId, tenantId, workAgain, lost: gone } of keys.first) {
    const parts = [
      ...workAgain.map((id) => `key ${id} was ended and works again`),
      ...gone.map((id) => `key ${id} is lost`),
    ];
    lines.push(`    application ${applicationId}, tenant ${tenantId}: ${parts.join(', ')}`);
  }
  lines.push(`  ${changed.count} had another state`);
  for (const { kind, id, tenantId } of changed.first)
    lines.push(`    ${kind} ${id}, tenant ${tenantId}`);
  lines.push(
    `  ${missing.count} are not in Redis: they were deleted and are there again, or nobody read them`,
  );
  for (const { kind, id, tenantId } of missing.first)
    lines.push(`    ${kind} ${id}, tenant ${tenantId}`);
  lines.push(`  ${lost.count} are in Redis alone: they were made later and are lost`);
  for (const { kind, id } of lost.first) lines.push(`    ${kind} ${id}`);
  return [...lines, unknown];
}
