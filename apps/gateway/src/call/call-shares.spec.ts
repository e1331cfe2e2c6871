import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Work } from '@glovebox/expressions';
import { createCallShares, Room } from './call-shares';

const kibibyte = 1024;
const config = {
  CALLS_MAX: 8,
  CALLS_PER_KEY_MAX: 8,
  BUFFERED_BYTES_MAX: 1024 * kibibyte,
  DRY_RUNS_MAX: 8,
  BODY_IDLE_MS: 1_000,
  REQUEST_TIMEOUT_MS: 1_000,
};

function roomsOf() {
  const shares = createCallShares(config);
  const roomFor = (tenantId: string): Room => {
    const res = new ServerResponse(new IncomingMessage(new Socket()));
    shares.calls.enter(tenantId);
    shares.callsOfKeys.enter(tenantId);
    return new Room(shares, config, res, tenantId, tenantId);
  };
  return { held: () => shares.bufferedBytes.state.held, roomFor };
}

describe('the room of a call', () => {
  it('gives bytes back even after others have made the share of its tenant smaller', () => {
    const { held, roomFor } = roomsOf();
    const [first, second, other] = [roomFor('a'), roomFor('a'), roomFor('b')];
    first.keep(320 * kibibyte);
    second.keep(160 * kibibyte);
    second.keep(32 * kibibyte);
    other.keep(256 * kibibyte);
    second.keepOnly(100 * kibibyte);
    expect(held()).toBe((320 + 112 + 256) * kibibyte);
    for (const room of [first, second, other]) room.end();
    expect(held()).toBe(0);
  });

  it('takes a small body apart without a pause, and counts it before it does', () => {
    const { held, roomFor } = roomsOf();
    const room = roomFor('a');
    const work = function* (): Work<number> {
      yield;
      return held();
    };
    expect(room.takeApart(10 * kibibyte, work())).toBe(32 * kibibyte);
    const failing = function* (): Work<number> {
      yield;
      throw new Error('broken');
    };
    expect(() => room.takeApart(kibibyte, failing())).toThrow('broken');
    expect(() => room.takeApart(1024 * kibibyte, work())).toThrow();
    room.end();
    expect(held()).toBe(0);
  });

  it.each([16, 64])('takes a body of %i KB apart in slices', async (size) => {
    const { held, roomFor } = roomsOf();
    const room = roomFor('a');
    const work = function* (): Work<number> {
      yield;
      return held();
    };
    const taken = room.takeApart(size * kibibyte, work());
    expect(taken).toBeInstanceOf(Promise);
    expect(await taken).toBe(3 * size * kibibyte);
    room.end();
  });

  it('takes nothing more once the call is over, although its work still goes on', () => {
    const { held, roomFor } = roomsOf();
    const room = roomFor('a');
    room.keep(100 * kibibyte);
    room.end();
    expect(() => room.keep(kibibyte)).toThrow('left');
    expect(held()).toBe(0);
  });
});
