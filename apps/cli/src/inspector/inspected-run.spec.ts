import { InspectedRun } from './inspected-run';

const map = 'data:application/json;base64,e30=';
const nobody = { pass() {}, start() {} };
const shown = (message: unknown): unknown => {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const found = new InspectedRun(nobody, map).shown(text);
  return found === undefined ? undefined : JSON.parse(found);
};
const parsed = (params: object): object => ({ method: 'Debugger.scriptParsed', params });

it('a debugger fetches no source map that code names, and reads those that are part of it', () => {
  const url = 'evaluated.js';
  for (const sourceMapURL of ['http://10.0.0.1/a.map', 'file:///etc/passwd', 'a.map', 7, {}]) {
    expect(shown(parsed({ url, sourceMapURL }))).toEqual(parsed({ url, sourceMapURL: '' }));
  }
  expect(shown(parsed({ url, sourceMapURL: map }))).toEqual(parsed({ url, sourceMapURL: map }));
  const own = parsed({ url: 'reactor.js', sourceMapURL: 'http://10.0.0.1/a.map' });
  expect(shown(own)).toEqual(parsed({ url: 'reactor.js', sourceMapURL: map }));
});

it('what is no message of the protocol reaches no debugger, and harms nothing', () => {
  for (const text of ['', '{', 'null', '7', '[]', '"a"', '{"id":2000000000,"result":7}']) {
    expect(shown(text)).toBeUndefined();
  }
  const odd = [
    { method: 'Debugger.paused', params: 7 },
    { method: 'Debugger.paused', params: { hitBreakpoints: {}, callFrames: 7 } },
    { method: 'Debugger.paused', params: { hitBreakpoints: [undefined, null, {}] } },
    { method: { a: 1 }, params: [] },
  ];
  expect(odd.map(shown)).toHaveLength(odd.length);
  expect(shown({ id: 1, result: { odd: true } })).toEqual({ id: 1, result: { odd: true } });
});
