import { resultMembersMax } from './call-limits';
import { FrameError } from './frames';
import { parseOutcome, readOutcome } from './outcome';

const tooLarge = { kind: 'invalid_result', reason: 'too_large' };
/** An object with a list of empty lists: the list, its members, and each member's own bracket. */
const withLists = (lists: number): string => `{"body":[${'[],'.repeat(lists - 1)}[]]}`;

describe('a value that code returned or threw', () => {
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

describe('the end of a process', () => {
  const died = (more: object) => parseOutcome({ kind: 'died', reason: 'SIGABRT', ...more }, none);
  const none = Buffer.alloc(0);

  it('tells the memory of its runtime, if the runner does', () => {
    const memory = { runtime: 'node20', megabytes: 384 };
    expect(died({ memory })).toEqual({ kind: 'died', reason: 'SIGABRT', memory });
    expect(died({})).toEqual({ kind: 'died', reason: 'SIGABRT' });
  });

  it.each([
    ['that is none', 384],
    ['of a runtime that is none', { runtime: 'node18', megabytes: 384 }],
    ['that is no number', { runtime: 'node20', megabytes: 'much' }],
  ])('is refused with memory %s', (_, memory) => {
    expect(() => died({ memory })).toThrow(FrameError);
  });
});
