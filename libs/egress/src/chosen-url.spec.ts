import { faultOfChosenUrl } from './chosen-url';
import { EgressRefused } from './refusal';

const check = (text: string): URL => new URL(text);

describe('the check of a URL that a caller chooses', () => {
  it.each<[unknown, string | undefined]>([
    [1, 'must be a string'],
    [`https://a.example/${'x'.repeat(1_982)}`, undefined],
    [`https://a.example/${'x'.repeat(1_983)}`, 'must be at most 2000 characters'],
    ['https://a.example/ä', undefined],
  ])('answers %j with %j', (url, fault) => {
    expect(faultOfChosenUrl(check, url, {})).toBe(fault);
  });

  it('refuses what is not ASCII where the URL is sent as it is written', () => {
    const text = 'must be ASCII, with everything else percent-encoded';
    expect(faultOfChosenUrl(check, 'https://a.example/ä', { isAscii: true })).toBe(text);
    expect(faultOfChosenUrl(check, 'https://a.example/%C3%A4', { isAscii: true })).toBe(undefined);
  });

  it('gives the words of a refusal, and throws any other error as it is', () => {
    const refuse = (): URL => {
      throw new EgressRefused('plain_http');
    };
    expect(faultOfChosenUrl(refuse, 'http://a.example', {})).toBe('must be an https URL');
    const bug = new TypeError('a bug');
    const broken = (): URL => {
      throw bug;
    };
    expect(() => faultOfChosenUrl(broken, 'http://a.example', {})).toThrow(bug);
  });
});
