import { Tally, valueTemplate } from '../index';
import { filters } from './filters';

const read = (chain: string): unknown =>
  valueTemplate(`{{ card | ${chain} }}`, new Tally({ keepsWhole: true }));

/** One use of each filter. */
const uses: Readonly<Record<string, string>> = {
  json: "json: '$.number'",
  reveal: 'reveal: 1',
  reveal_last: 'reveal_last: 1',
  pad_left: 'pad_left: 9',
  pad_right: 'pad_right: 9',
  slice: 'slice: 0',
  replace: "replace: 'a', 'b'",
  remove: "remove: 'a'",
  append: "append: 'a'",
  prepend: "prepend: 'a'",
  hmac: "hmac: 'sha256', 'key'",
  hmac_body: "hmac_body: 'sha256'",
};

describe('where the answer is searched for whole values, expressions', () => {
  it('take the filters that leave a value whole, and no other', () => {
    const taken = [...filters.keys()].filter((name) => {
      try {
        return read(uses[name] ?? name) !== undefined;
      } catch {
        return false;
      }
    });
    expect(taken).toEqual([
      'json',
      'to_string',
      'upcase',
      'downcase',
      'append',
      'prepend',
      'hmac',
      'to_base64',
      'to_base16',
    ]);
  });

  it.each([
    ["json: '$.user' | prepend: 'agent:' | to_base64 | prepend: 'Basic '", undefined],
    [`append: '${'é'.repeat(16)}' | prepend: '${'é'.repeat(16)}'`, undefined],
    [`append: '${'é'.repeat(16)}' | prepend: '${'é'.repeat(17)}'`, 'at most 64 bytes'],
    ['to_base64 | upcase | to_base16', 'encode a value once'],
    ['upcase | last4', '`last4` is not for callers'],
  ])('with %j are refused with %j', (chain, why) => {
    const reading = expect(() => read(chain));
    if (why === undefined) reading.not.toThrow();
    else reading.toThrow(why);
  });
});
