import { randomBytes, randomUUID } from 'node:crypto';
import { parseKeyRing } from '@glovebox/seal';
import { sealDefinition } from './codec';
import type { ReactorDefinition } from './definition';
import type { LogEntry, LogPart } from './log';
import { Replica } from './replica';

const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
const epoch = randomUUID();
const tenantId = randomUUID();

function reactor(id: string, value: string): ReactorDefinition {
  const configuration = { value };
  const formulaId = randomUUID();
  return {
    kind: 'reactor',
    id,
    tenantId,
    formulaId,
    applicationId: null,
    configuration,
    isolation: 'warm',
  };
}

const entry = (version: number, id: string, value?: string): LogEntry => ({
  version,
  kind: 'reactor',
  id,
  tenantId,
  payload: value === undefined ? null : sealDefinition(ring, 1, reactor(id, value)),
});

const partOf = (after: number, entries: LogEntry[], upTo: number): LogPart => ({
  after,
  head: { epoch, version: upTo },
  entries,
  upTo,
});

const replica = (): Replica => new Replica(ring, () => undefined);

describe('a copy of the log', () => {
  it('takes nothing older from a part that was read earlier but arrives later', async () => {
    const copy = replica();
    const id = randomUUID();
    const late = partOf(0, [entry(1, id, 'old')], 1);
    expect(await copy.apply(partOf(0, [entry(2, id)], 2))).toBe(true);
    expect(await copy.apply(late)).toBe(true);
    expect(copy.snapshot.find('reactor', tenantId, id)).toBeUndefined();
    expect(copy.head).toEqual({ epoch, version: 2 });
  });

  it('takes no part that leaves a gap and none of another log', async () => {
    const copy = replica();
    await copy.apply(partOf(0, [], 2));
    expect(await copy.apply(partOf(3, [], 4))).toBe(false);
    const other = { ...partOf(2, [], 4), head: { epoch: randomUUID(), version: 4 } };
    expect(await copy.apply(other)).toBe(false);
    expect(copy.head?.version).toBe(2);
  });

  it('lets other work run while it takes a large part', async () => {
    const copy = replica();
    const entries = Array.from({ length: 5_000 }, (_, n) => entry(n + 1, randomUUID(), `${n}`));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await copy.apply(partOf(0, entries, entries.length));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
    expect(copy.snapshot.size).toBe(5_000);
  });
});
