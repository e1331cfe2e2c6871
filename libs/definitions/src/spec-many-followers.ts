import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connectDatabase } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import type { DefinitionConnection } from './index';
import { startStage, type Stage } from './spec-stage';

const lastsMs = 4_000;
/** Of about 90. */
const looksPerSecondMin = 60;
/** With the pause of 20 ms before each question. */
const answersWithinMs = 220;
/** Connections of the pool of `stage.management`. */
const poolConnections = 20;
/** What took longer than the guarantee is reported as late, not as a wait that was given up. */
const busyMachine = { timeoutMs: 60_000 };

/** So many followers beside a saturated pool keep their leases and have each change within a second. */
export function manyFollowers(followers: number): void {
  let stage: Stage;

  beforeAll(async () => {
    stage = await startStage();
  });
  afterAll(() => stage.close());

  it(`${followers} followers beside a saturated pool never lose their lease, and have each change within a second`, async () => {
    const api = stage.connect({ writes: true });
    const processes = Array.from({ length: followers }, () => stage.connect());
    await Promise.all([api, ...processes].map((connection) => connection.start()));
    // So many connections at once take this one process longer than a lease.
    await waitFor(() => processes.every(({ follower }) => follower.leaseLeftMs > 600), busyMachine);

    let over = false;
    const keepBusy = async (): Promise<void> => {
      // A busy machine may take longer to connect than the pool waits.
      while (!over) await stage.management.query('SELECT pg_sleep(0.3)').catch(() => undefined);
    };
    // A change waits behind these for a connection of the pool.
    const busy = Array.from({ length: 2 * poolConnections }, keepBusy);

    // Where Postgres takes so long for nothing, the machine is what delays the followers.
    const control = connectDatabase({
      url: stage.database.dataUrl,
      app: 'spec',
      connectionsMax: 1,
    });
    let askedAt = performance.now();
    const keepAsking = async (): Promise<void> => {
      while (!over) {
        await delay(20);
        askedAt = performance.now();
        await control.query('SELECT 1').catch(() => undefined);
      }
    };
    const asking = keepAsking();

    let expiries = 0;
    let watchedMs = 0;
    let heldUpAt = 0;
    let looks: number[] = [];
    const isOver = ({ follower }: DefinitionConnection): boolean => follower.fresh() === undefined;
    const watch = setInterval(() => {
      const now = performance.now();
      const sinceLast = now - (looks.at(-1) ?? now);
      looks = [...looks.filter((at) => at > now - 1_000), now];
      if (now - askedAt > answersWithinMs) looks = [now];
      // All followers live in this process. Held up itself, it cannot tell their leases from its own
      // delay.
      if (looks.length < looksPerSecondMin) {
        heldUpAt = now;
        return;
      }
      watchedMs += sinceLast;
      expiries += processes.filter(isOver).length;
    }, 10);
    const late: string[] = [];
    try {
      while (watchedMs < lastsMs) {
        // No change meanwhile: its message would make them ask.
        const quietUntil = watchedMs + 1_500;
        await waitFor(() => watchedMs >= quietUntil, busyMachine);
        const id = randomUUID();
        await waitFor(async () => {
          await api.announce(await stage.write(stage.reactor(id)));
          return true;
        }, busyMachine);
        const answeredAt = performance.now();
        await waitFor(
          () => processes.every((connection) => stage.find(connection, id)),
          busyMachine,
        );
        const tookMs = performance.now() - answeredAt;
        if (tookMs > 1_000 && heldUpAt < answeredAt) late.push(`${Math.round(tookMs)} ms`);
      }
    } finally {
      clearInterval(watch);
      over = true;
      await Promise.all([...busy, asking]);
      await control.close();
    }
    expect({ expiries, late }).toEqual({ expiries: 0, late: [] });
  });
}
