import { resultMembersMax } from './call-limits';
import { readOutcome } from './outcome';

const tooLarge = { kind: 'invalid_result', reason: 'too_large' };
/** An object with a list of empty lists: the list, its members, and each member's own bracket. */
const withLists = (lists: number): string => `{"body":[${'[],'.repeat(lists - 1)}[]]}`;

describe('what code returned or threw', () => {
  it('is read when it is a body of 100,000 values as it came', () => {
    const outcome = readOutcome({ kind: 'returned', value: Buffer.from(withLists(99_998)) });
    expect(outcome).toMatchObject({ kind: 'returned' });
  });

  it.each(['returned', 'answered', 'threw', 'invalid_code'] as const)(
    'is too large, before it is parsed, when it has too many members: %s',
    (kind) => {
      // Parsed, this text would not be JSON.
      const value = Buffer.from(withLists(resultMembersMax / 2).slice(0, -1));
      expect(readOutcome({ kind, value, queuedMs: 3 })).toEqual({ ...tooLarge, queuedMs: 3 });
    },
  );
});
