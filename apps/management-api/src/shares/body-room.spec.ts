import { Problem } from '@glovebox/problems';
import { BodyRoom, bufferedBytesMax, createBodyShares } from './body-room';

describe('the bodies that the management API keeps', () => {
  it('take at most half of their memory for one tenant, and leave the other half to others', () => {
    const shares = createBodyShares();
    const [hostile, other] = [new BodyRoom(shares, 'hostile'), new BodyRoom(shares, 'other')];
    hostile.keep(bufferedBytesMax / 2);
    expect(() => hostile.keep(1)).toThrow(new Problem('share_exhausted'));
    other.keep(bufferedBytesMax / 4);
    for (const room of [hostile, other]) room.leave();
    expect(shares.bufferedBytes.state.held).toBe(0);
  });
});
