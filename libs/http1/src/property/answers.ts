import type { Random } from '@glovebox/testing';

export interface Case {
  readonly method: 'GET' | 'HEAD';
  readonly isUpgrade: boolean;
  /** The answer, and perhaps more, in latin1. */
  readonly text: string;
  /** The ends of the reads. */
  readonly sizes: readonly number[];
}

/** Makes an answer that is nearly HTTP/1.1. About every third is valid. */
export function makeCase(random: Random): Case {
  let text = answer(random);
  for (let n = random(3); n > 0; n -= 1) text = mutated(random, text);
  return {
    method: random(8) === 0 ? 'HEAD' : 'GET',
    isUpgrade: random(12) === 0,
    text,
    sizes: sizes(random),
  };
}

function sizes(random: Random): number[] {
  if (random(4) === 0) return [1];
  return Array.from({ length: 1 + random(6) }, () => 1 + random(random(2) === 0 ? 8 : 200));
}

function one<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

const statuses = [200, 200, 200, 200, 201, 204, 206, 304, 404, 500, 101, 599, 600, 999];
const reasons = [' OK', ' ', ' Not Found', ' \t', ' caf\xe9', ' HTTP/1.1 200 OK', ''];
const blanks = [' ', ' ', ' ', '', '\t', '  ', ' \t '];
const ends = ['', '', '', ' ', '\t', ' \t'];
const values = ['b', 'text/plain', '', 'a, b', '"q;\\"r"', '\xe9\xff', 'x: y', '0', 'a'.repeat(70)];
const names = [
  'A',
  'Content-Type',
  'X-Y',
  'Date',
  "!#$%&'*+-.^_`|~9",
  'Content-Lengt',
  'Set-Cookie',
];
const connections = [
  'Connection: close',
  'Connection: keep-alive',
  'connection: CLOSE',
  'Connection: a, close',
  'Connection: close,b',
  'Connection: closed',
  'Connection: upgrade',
  'Connection: keep-alive, close',
  'Proxy-Connection: close',
  'Keep-Alive: timeout=5',
  'Upgrade: websocket',
  'Connection: Upgrade\r\nUpgrade: websocket',
];

function answer(random: Random): string {
  let text = '';
  while (random(6) === 0) {
    text += `HTTP/1.1 ${one(random, [100, 102, 103, 104, 199])} Interim\r\n${fields(random)}\r\n`;
  }
  const version = random(10) === 0 ? '1.0' : '1.1';
  text += `HTTP/${version} ${one(random, statuses)}${one(random, reasons)}\r\n`;
  const before = fields(random);
  const [framing, body] = framed(random);
  text += `${before}${framing}${fields(random)}\r\n${body}`;
  if (random(10) === 0) text += one(random, ['x', '\r\n', 'HTTP/1.1 200 OK\r\n\r\n', '0\r\n\r\n']);
  return text;
}

function fields(random: Random): string {
  let lines = '';
  for (let n = random(4); n > 0; n -= 1) {
    lines +=
      random(4) === 0
        ? `${one(random, connections)}\r\n`
        : `${one(random, names)}:${one(random, blanks)}${one(random, values)}${one(random, ends)}\r\n`;
  }
  return lines;
}

/** Makes the header that frames the body, and the body. */
function framed(random: Random): [string, string] {
  const body = 'hello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'.repeat(1 + random(3)).slice(random(30));
  switch (random(8)) {
    case 0:
      return ['', body];
    case 1:
      return ['Content-Length: 0\r\n', ''];
    case 2:
    case 3:
    case 4: {
      const length = one(random, ['', '', '0', '00']) + String(body.length);
      return [`Content-Length:${one(random, blanks)}${length}${one(random, ends)}\r\n`, body];
    }
    default: {
      const name = one(random, ['Transfer-Encoding', 'transfer-encoding', 'TRANSFER-ENCODING']);
      const coding = one(random, [
        'chunked',
        'chunked',
        'chunked',
        'Chunked',
        'CHUNKED',
        'chunked ',
      ]);
      return [
        `${name}:${one(random, blanks)}${coding}${one(random, ends)}\r\n`,
        chunked(random, body),
      ];
    }
  }
}

const extensions = [
  '',
  '',
  '',
  ';a',
  ';a=b',
  ';a="b"',
  ';a="\\"";b',
  ';a;b=c',
  ';a=b;',
  '; a',
  ';=',
  ' ',
];

function chunked(random: Random, body: string): string {
  let text = '';
  for (let at = 0; at < body.length;) {
    const data = body.slice(at, at + 1 + random(40));
    const size = data.length.toString(16);
    const digits = random(3) === 0 ? `0${size.toUpperCase()}` : size;
    text += `${digits}${one(random, extensions)}\r\n${data}\r\n`;
    at += data.length;
  }
  const trailers = random(3) === 0 ? fields(random) : '';
  return `${text}${one(random, ['0', '0', '000'])}${one(random, extensions)}\r\n${trailers}\r\n`;
}

/** Each has meant something else to some parser. */
const pieces = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '\r\r\n',
  ' ',
  '\t',
  '\0',
  '\x0b',
  '\x0c',
  '\x7f',
  '\x80',
  '\xff',
  ':',
  ';',
  ',',
  '"',
  '\\',
  '+',
  '-',
  '0',
  '1',
  '9',
  'f',
  '0x',
  'x',
  ': ',
  ' :',
  '\r\n ',
  '\r\n\t',
  'chunked',
  'gzip, ',
  'identity',
  'Content-Length: 3\r\n',
  'Content-Length: 5\r\nContent-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Transfer-Encoding\r\n',
  'Connection: close\r\n',
  'HTTP/1.1 ',
  'HTTP/1.0 200 OK\r\n\r\n',
  '99999999999999999999',
  'ffffffffffffffff',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
];

function mutated(random: Random, text: string): string {
  const at = random(text.length + 1);
  const length = 1 + random(random(2) === 0 ? 2 : 12);
  const before = text.slice(0, at);
  switch (random(8)) {
    case 0:
      return before + text.slice(at + length);
    case 1:
      return before + String.fromCharCode(random(256)) + text.slice(at + 1);
    case 2:
      return before + text.slice(at, at + length) + text.slice(at);
    case 3:
      return before;
    case 4:
      return swappedCase(before, text, at);
    case 5:
      return atLine(random, text, (line) => line + '\r\n' + line);
    case 6:
      return atLine(random, text, (line) => one(random, pieces) + line);
    default:
      return before + one(random, pieces) + text.slice(random(3) === 0 ? at + length : at);
  }
}

function swappedCase(before: string, text: string, at: number): string {
  const char = text.charAt(at);
  const swapped = char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase();
  return before + (swapped.length === 1 && swapped <= '\xff' ? swapped : char) + text.slice(at + 1);
}

function atLine(random: Random, text: string, change: (line: string) => string): string {
  const lines = text.split('\r\n');
  const at = random(lines.length);
  return lines.map((line, n) => (n === at ? change(line) : line)).join('\r\n');
}
