import { answerHeadBytesMax, chunkExtensionBytesMax } from './answer-fault';
import { parse, type ParseOptions, type ParsedAnswer } from './spec-parse';
import { ok } from './spec-server';

/** Whole, byte by byte, and in parts that end anywhere. */
const deliveries: readonly (readonly number[])[] = [[Infinity], [1], [7], [16, 3, 2, 1]];

/** Parses the text in each way of delivery, with the same outcome. */
function parsed(text: string, options: ParseOptions = {}): ParsedAnswer {
  const all = deliveries.map((sizes) => parse(text, { ...options, sizes }));
  const [first, ...others] = all;
  if (first === undefined) throw new Error('no delivery');
  for (const { recorder, ...rest } of others) {
    expect(rest.read).toBe(first.read);
    if (first.read === 'invalid') continue;
    expect([recorder.status, recorder.headers, recorder.body, recorder.trailers]).toEqual([
      first.recorder.status,
      first.recorder.headers,
      first.recorder.body,
      first.recorder.trailers,
    ]);
    expect([rest.keeps, rest.keepMs, rest.left]).toEqual([first.keeps, first.keepMs, first.left]);
  }
  return first;
}

const empty = 'Content-Length: 0\r\n\r\n';
const head = (lines: string, body = ''): string => `HTTP/1.1 200 OK\r\n${lines}\r\n${body}`;
const chunked = (body: string): string => head('Transfer-Encoding: chunked\r\n', body);

describe('The parser accepts', () => {
  it.each<[string, string, number]>([
    ['a reason', `HTTP/1.1 200 OK\r\n${empty}`, 200],
    ['no reason behind the blank (RFC 9112 §4)', `HTTP/1.1 200 \r\n${empty}`, 200],
    ['blanks, tabs and obs-text in the reason', `HTTP/1.1 404 No\tgo \xe9\r\n${empty}`, 404],
    ['HTTP/1.0', `HTTP/1.0 200 OK\r\n${empty}`, 200],
    ['a status that nobody has registered (RFC 9110 §15)', `HTTP/1.1 299 X\r\n${empty}`, 299],
    ['a status beyond 599, as undici did', `HTTP/1.1 999 X\r\n${empty}`, 999],
  ])('a status line with %s', (_, text, status) => {
    expect(parsed(text)).toMatchObject({ read: 'complete', recorder: { status } });
  });

  it.each<[string, string, string[]]>([
    ['no value', 'A:\r\n', ['A', '']],
    ['nothing but blanks for a value', 'A: \t \r\n', ['A', '']],
    ['no blank before its value', 'A:b\r\n', ['A', 'b']],
    ['blanks and tabs around its value (RFC 9112 §5.1)', 'A: \t b c\t \r\n', ['A', 'b c']],
    ['obs-text at the edges of its value', 'A: \xa0\x85\xff \r\n', ['A', '\xa0\x85\xff']],
    ['colons in its value', 'A: b:c: d\r\n', ['A', 'b:c: d']],
    [
      'every character of a token in its name',
      "!#$%&'*+-.^_`|~0Az: b\r\n",
      ["!#$%&'*+-.^_`|~0Az", 'b'],
    ],
    ['the name of another', 'A: b\r\na: c\r\n', ['A', 'b', 'a', 'c']],
  ])('a header with %s', (_, lines, headers) => {
    const { recorder } = parsed(head(`${lines}Content-Length: 0\r\n`));
    expect(recorder.headers).toEqual([...headers, 'Content-Length', '0']);
  });

  it.each<[string, string]>([
    ['bytes in a Content-Length', head('Content-Length: 5\r\n', 'hello')],
    ['leading zeros in a Content-Length', head('content-length: 0005\r\n', 'hello')],
    ['blanks around a Content-Length', head('Content-Length: \t5 \r\n', 'hello')],
    ['chunks', chunked('2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n')],
    ['chunks of any case', head('TRANSFER-encoding: CHUNKED\r\n', '5\r\nhello\r\n0\r\n\r\n')],
    ['sizes with leading zeros', chunked('0005\r\nhello\r\n000\r\n\r\n')],
    [
      'extensions of chunks (RFC 9112 §7.1.1)',
      chunked('5;a;b=c;d="e;\\"\t\xe9";f\r\nhello\r\n0;g=""\r\n\r\n'),
    ],
  ])('%s for a body', (_, text) => {
    const { read, recorder, keeps } = parsed(text);
    expect([read, recorder.body, keeps]).toEqual(['complete', 'hello', true]);
  });

  it('sizes in hexadecimal digits of any case', () => {
    const body = 'x'.repeat(0xab);
    expect(parsed(chunked(`aB\r\n${body}\r\n0\r\n\r\n`)).recorder.body).toBe(body);
  });

  it('everything up to the end of the connection when nothing else frames the body (RFC 9112 §6.3)', () => {
    const closed = parsed(head('', 'hello'), { closes: true });
    expect([closed.read, closed.recorder.body, closed.keeps]).toEqual(['complete', 'hello', false]);
  });

  it('HEAD, 204 and 304 without a body, whatever their head says (RFC 9112 §6.3)', () => {
    const framings = ['', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n'];
    for (const framing of framings) {
      for (const status of [204, 304]) {
        const text = `HTTP/1.1 ${status} X\r\n${framing}\r\n`;
        expect(parsed(text)).toMatchObject({ read: 'complete', keeps: true, left: 0 });
      }
      expect(parsed(head(framing), { isHead: true })).toMatchObject({
        read: 'complete',
        keeps: true,
      });
    }
  });

  it('any number of interim answers before the answer', () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
    const { recorder } = parsed(interim + ok('x'));
    expect(recorder.informationals).toEqual([100, 103]);
    expect(recorder).toMatchObject({ status: 200, body: 'x', headers: ['Content-Length', '1'] });
  });

  it('101 as the answer to an upgrade, and leaves the bytes behind it', () => {
    const text =
      'HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: a, upgrade\r\nContent-Length: 3\r\n\r\nabc';
    const { read, left, recorder } = parsed(text, { isUpgrade: true });
    expect([read, left, recorder.status]).toEqual(['switched', 3, 101]);
    expect(parsed(ok('x'), { isUpgrade: true }).read).toBe('complete');
  });

  it('101 only with the protocol that it switches to (RFC 9110 §7.8)', () => {
    for (const line of ['', 'Upgrade: websocket\r\n', 'Connection: upgrade\r\n']) {
      expect(parsed(`HTTP/1.1 101 X\r\n${line}\r\n`, { isUpgrade: true }).read).toBe('invalid');
    }
  });

  it('trailers, and drops nothing of them', () => {
    const { recorder, keeps } = parsed(chunked('1\r\nx\r\n0\r\nA: b\r\na:\tc \r\n\r\n'));
    expect([recorder.trailers, keeps]).toEqual([['A', 'b', 'a', 'c'], true]);
  });

  it('bytes behind an answer, which are not part of it', () => {
    const second = ok('stolen');
    for (const first of [ok('x'), chunked('1\r\nx\r\n0\r\n\r\n'), 'HTTP/1.1 204 X\r\n\r\n']) {
      expect(parsed(first + second).left).toBe(second.length);
    }
  });

  it('a head of 64 KiB, and none that is longer', () => {
    const rest = ok('', 'A: \r\n').length;
    const fits = ok('', `A: ${'a'.repeat(answerHeadBytesMax - rest)}\r\n`);
    expect(fits).toHaveLength(answerHeadBytesMax);
    expect(parsed(fits).read).toBe('complete');
    expect(parsed(ok('', `A: ${'a'.repeat(answerHeadBytesMax - rest + 1)}\r\n`)).read).toBe(
      'invalid',
    );
  });

  it('trailers of 64 KiB, and none that are longer', () => {
    const trailers = `A: ${'a'.repeat(answerHeadBytesMax - 7)}\r\n\r\n`;
    expect(trailers).toHaveLength(answerHeadBytesMax);
    expect(parsed(chunked(`0\r\n${trailers}`)).read).toBe('complete');
    expect(parsed(chunked(`0\r\nA${trailers}`)).read).toBe('invalid');
  });

  it('16 KiB of extensions of all chunks together, and no more', () => {
    const chunk = `1;${'a'.repeat(1023)}\r\nx\r\n`;
    expect(chunkExtensionBytesMax / 1024).toBe(16);
    expect(parsed(chunked(chunk.repeat(16) + '0\r\n\r\n')).read).toBe('complete');
    expect(parsed(chunked(chunk.repeat(16) + '0;a\r\n\r\n')).read).toBe('invalid');
  });
});

describe('The parser refuses', () => {
  it.each<[string, string]>([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['another protocol, at its first byte', 'R'],
    ['an empty line before the status line', `\r\nHTTP/1.1 200 OK\r\n${empty}`],
    ['HTTP/2', `HTTP/2 200 OK\r\n${empty}`],
    ['HTTP/1.2 (RFC 9112 §2.3)', `HTTP/1.2 200 OK\r\n${empty}`],
    ['HTTP/0.9', `HTTP/0.9 200 OK\r\n${empty}`],
    ['another case of HTTP (RFC 9112 §2.3)', `http/1.1 200 OK\r\n${empty}`],
    ['two blanks before the status', `HTTP/1.1  200 OK\r\n${empty}`],
    ['a tab before the status', `HTTP/1.1\t200 OK\r\n${empty}`],
    ['no blank behind the status (RFC 9112 §4)', `HTTP/1.1 200\r\n${empty}`],
    ['a status of letters', `HTTP/1.1 abc OK\r\n${empty}`],
    ['a status of two digits', `HTTP/1.1 20 OK\r\n${empty}`],
    ['a status of four digits', `HTTP/1.1 2000 OK\r\n${empty}`],
    ['a status below 100 (RFC 9110 §15)', `HTTP/1.1 099 OK\r\n${empty}`],
    ['a control in the reason', `HTTP/1.1 200 O\x01K\r\n${empty}`],
    ['LF alone behind the status line (RFC 9112 §2.2)', `HTTP/1.1 200 OK\n${empty}`],
    ['101 that nobody asked for', 'HTTP/1.1 101 X\r\nUpgrade: x\r\n\r\n'],
  ])('%s', (_, text) => {
    expect(parsed(text).read).toBe('invalid');
  });

  it.each<[string, string]>([
    ['without colon', 'nothing\r\n'],
    ['without name (RFC 9110 §5.1)', ': b\r\n'],
    ['with a blank in its name', 'A B: c\r\n'],
    ['with a blank before its colon (RFC 9112 §5.1)', 'A : b\r\n'],
    ['with a tab before its colon', 'A\t: b\r\n'],
    ['with a name that is no token', 'A(b): c\r\n'],
    ['with obs-text in its name', 'A\xe9: c\r\n'],
    ['that is folded (RFC 9112 §5.2)', 'A: b\r\n c\r\n'],
    ['that is folded at once', ' A: b\r\n'],
    ['that is folded by a tab', 'A: b\r\n\tc\r\n'],
    ['with NUL', 'A: a\0b\r\n'],
    ['with a control', 'A: a\x1bb\r\n'],
    ['with DEL', 'A: a\x7fb\r\n'],
    ['with CR alone (RFC 9112 §2.2)', 'A: a\rB: b\r\n'],
    ['with CR twice', 'A: a\r\r\n'],
    ['with LF alone', 'A: a\nB: b\r\n'],
  ])('a header or a trailer %s', (_, line) => {
    expect(parsed(head(`B: c\r\n${line}${empty}`)).read).toBe('invalid');
    expect(parsed(head(`${line}${empty}`)).read).toBe('invalid');
    expect(parsed(chunked(`0\r\n${line}\r\n`)).read).toBe('invalid');
    expect(parsed(chunked(`0\r\nB: c\r\n${line}\r\n`)).read).toBe('invalid');
  });

  it.each<[string, string]>([
    ['no number', 'Content-Length: x\r\n'],
    ['nothing', 'Content-Length:\r\n'],
    ['a sign', 'Content-Length: +1\r\n'],
    ['less than nothing', 'Content-Length: -1\r\n'],
    ['hexadecimal digits', 'Content-Length: 0x1\r\n'],
    ['an exponent', 'Content-Length: 1e1\r\n'],
    ['a point', 'Content-Length: 1.0\r\n'],
    ['a list', 'Content-Length: 1, 1\r\n'],
    ['a number and a tab, which llhttp refuses', 'Content-Length: 1\t\r\n'],
    ['a blank between digits', 'Content-Length: 1 1\r\n'],
    ['obs-text', 'Content-Length: \xa01\r\n'],
    ['more than a number can hold', 'Content-Length: 9007199254740993\r\n'],
    ['more than anything can hold', `Content-Length: ${'9'.repeat(400)}\r\n`],
  ])('a Content-Length of %s', (_, line) => {
    expect(parsed(head(line, 'x')).read).toBe('invalid');
  });

  it.each<[string, string]>([
    ['two lengths that differ', 'Content-Length: 1\r\nContent-Length: 2\r\n'],
    ['two lengths that agree', 'Content-Length: 1\r\nContent-Length: 1\r\n'],
    ['a length and chunks', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 1\r\n'],
    ['chunks twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks twice in a list', 'Transfer-Encoding: chunked, chunked\r\n'],
    ['another coding', 'Transfer-Encoding: gzip\r\n'],
    ['another coding before the chunks', 'Transfer-Encoding: gzip, chunked\r\n'],
    ['another coding and the chunks', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n'],
    ['chunks and no coding', 'Transfer-Encoding: chunked, identity\r\n'],
    ['no coding', 'Transfer-Encoding:\r\n'],
    ['chunks and a comma', 'Transfer-Encoding: chunked,\r\n'],
    ['chunks with a parameter', 'Transfer-Encoding: chunked;q=1\r\n'],
    ['chunks in quotes', 'Transfer-Encoding: "chunked"\r\n'],
    ['chunks and a tab, which llhttp takes for another coding', 'Transfer-Encoding: chunked\t\r\n'],
    ['chunks and VT', 'Transfer-Encoding: \x0bchunked\r\n'],
  ])('%s', (_, lines) => {
    expect(parsed(head(lines, '1\r\nx\r\n0\r\n\r\n')).read).toBe('invalid');
    expect(parsed(head(lines), { isHead: true }).read).toBe('invalid');
  });

  it('chunks of HTTP/1.0 (RFC 9112 §6.1)', () => {
    const text = 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(parsed(text).read).toBe('invalid');
  });

  it('an interim answer that announces a body (RFC 9110 §8.6)', () => {
    for (const framing of ['Content-Length: 1', 'Transfer-Encoding: chunked']) {
      const text = `HTTP/1.1 103 X\r\n${framing}\r\n\r\n${ok('x')}`;
      expect(parsed(text).read).toBe('invalid');
    }
    const nothing = `HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n${ok('x')}`;
    expect(parsed(nothing).read).toBe('complete');
  });

  it('an interim answer that ends the connection (RFC 9110 §15.2, RFC 9112 §9.6)', () => {
    const closing = 'HTTP/1.1 100 X\r\nConnection: close\r\n\r\n';
    for (const interim of [closing, 'HTTP/1.0 100 X\r\n\r\n']) {
      expect(parsed(interim + ok('x')).read).toBe('invalid');
    }
  });

  it.each<[string, string]>([
    ['no size', '\r\nx\r\n0\r\n\r\n'],
    ['a size that is no number', 'x\r\nx\r\n0\r\n\r\n'],
    ['a sign before the size', '+1\r\nx\r\n0\r\n\r\n'],
    ['0x before the size', '0x1\r\nx\r\n0\r\n\r\n'],
    ['a blank before the size', ' 1\r\nx\r\n0\r\n\r\n'],
    ['a blank behind the size', '1 \r\nx\r\n0\r\n\r\n'],
    ['LF alone behind the size', '1\nx\r\n0\r\n\r\n'],
    ['CR alone behind the size', '1\rx\r\n0\r\n\r\n'],
    ['a size of 14 digits', '00000000000001\r\nx\r\n0\r\n\r\n'],
    ['more data than its size', '1\r\nxy\r\n0\r\n\r\n'],
    ['LF alone behind the data', '1\r\nx\n0\r\n\r\n'],
    ['CR alone behind the data', '1\r\nx\r0\r\n\r\n'],
    ['an extension without name', '1;\r\nx\r\n0\r\n\r\n'],
    ['an extension without value', '1;a=\r\nx\r\n0\r\n\r\n'],
    ['a blank before an extension', '1 ;a\r\nx\r\n0\r\n\r\n'],
    ['a blank in an extension', '1; a=b\r\nx\r\n0\r\n\r\n'],
    ['LF in an extension', '1;a\nb\r\nx\r\n0\r\n\r\n'],
    ['LF in a quoted extension', '1;a="\n"\r\nx\r\n0\r\n\r\n'],
    ['CR in a quoted pair', '1;a="\\\r\n"\r\nx\r\n0\r\n\r\n'],
    ['text behind a quoted extension', '1;a="b"c\r\nx\r\n0\r\n\r\n'],
    ['a name of an extension that is no token', '1;(\r\nx\r\n0\r\n\r\n'],
  ])('a chunk with %s', (_, body) => {
    expect(parsed(chunked(body)).read).toBe('invalid');
  });

  it('framing among the trailers (RFC 9110 §6.5.1)', () => {
    for (const line of ['Content-Length: 1', 'Transfer-Encoding: chunked']) {
      expect(parsed(chunked(`0\r\n${line}\r\n\r\n`)).read).toBe('invalid');
    }
  });
});

describe('The parser reports about a connection', () => {
  it.each<[boolean, string]>([
    [true, ok('x')],
    [true, ok('x', 'Connection: keep-alive\r\n')],
    [true, ok('x', 'Connection: closed, x-close\r\n')],
    [false, ok('x', 'Connection: close\r\n')],
    [false, ok('x', 'connection: CLOSE\r\n')],
    [false, ok('x', 'Connection: a,\t Close ,b\r\n')],
    [false, ok('x', 'Connection: a\r\nConnection: close\r\n')],
    [false, ok('x', 'Connection: keep-alive, close\r\n')],
    [false, ok('x', 'Proxy-Connection: close\r\n')],
    [false, ok('x').replace('1.1', '1.0')],
    [false, ok('x', 'Connection: keep-alive\r\n').replace('1.1', '1.0')],
    [false, chunked('0\r\nConnection: close\r\n\r\n')],
  ])('whether it stays: %s for %j', (keeps, text) => {
    expect(parsed(text)).toMatchObject({ read: 'complete', keeps });
  });

  it.each<[number, string]>([
    [4_000, ''],
    [4_000, 'Keep-Alive: max=5\r\n'],
    [4_000, 'Keep-Alive: timeout=x\r\n'],
    [4_000, 'Keep-Alive: nottimeout=9\r\n'],
    [9_000, 'Keep-Alive: timeout=10\r\n'],
    [1_000, 'keep-alive: max=100, timeout=2\r\n'],
    [1_000, 'Keep-Alive: TIMEOUT="2"; max=100\r\n'],
    [0, 'Keep-Alive: timeout=1\r\n'],
    [0, 'Keep-Alive: timeout=0\r\n'],
    [60_000, 'Keep-Alive: timeout=999999999\r\n'],
  ])('that it may wait for %d ms after %j', (keepMs, lines) => {
    expect(parsed(ok('x', lines)).keepMs).toBe(keepMs);
  });
});

describe('The parser reports for one read', () => {
  it('that the head came alone', () => {
    const told = (text: string) => parse(text).recorder.told;
    expect(told(head('Content-Length: 1\r\n'))).toEqual(['begun', 'head', 'headAlone']);
    expect(told(head(''))).toEqual(['begun', 'head', 'headAlone']);
    expect(told(chunked('1\r\n'))).toEqual(['begun', 'head', 'headAlone']);
    expect(told(head('Content-Length: 2\r\n', 'x'))).toEqual(['begun', 'head', 'data']);
    expect(told(ok(''))).toEqual(['begun', 'head', 'complete']);
    expect(told(chunked('0\r\n\r\n'))).toEqual(['begun', 'head', 'complete']);
  });

  it('the data of all of its chunks at once, and that it is the last', () => {
    const { recorder } = parse(chunked('1\r\nx\r\n'.repeat(10_000) + '0\r\n\r\n'));
    expect(recorder.lasts).toEqual([true]);
    expect(recorder.body).toBe('x'.repeat(10_000));
    const large = `1000\r\n${'y'.repeat(4096)}\r\n`;
    expect(parse(chunked(large.repeat(4))).recorder.parts).toHaveLength(1);
  });

  it('no data as the last before the trailers are there', () => {
    const body = '1\r\nx\r\n0\r\n';
    const { recorder } = parse(chunked(`${body}\r\n`), { sizes: [chunked(body).length, 2] });
    expect(recorder.lasts).toEqual([false]);
    expect(recorder.told).toEqual(['begun', 'head', 'data', 'complete']);
  });
});

it('The parser needs time in proportion to the bytes, even if they come one at a time', () => {
  const line = `A: ${'a'.repeat(60_000)}\r\n`;
  const once = cpuOf(() => parse(ok('', line), { sizes: [1] }));
  const chunks = '1\r\nx\r\n'.repeat(10_000) + '0\r\n' + line + '\r\n';
  const twice = cpuOf(() => parse(chunked(chunks), { sizes: [1] }));
  // With quadratic work each would take 1.8 * 10^9 steps and more.
  expect(once).toBeLessThan(1_000);
  expect(twice).toBeLessThan(2_000);
});

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
