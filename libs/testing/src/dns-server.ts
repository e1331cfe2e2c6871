import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

export interface DnsQuestion {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'other';
}

/** Addresses (possibly after a CNAME), no such name, a failure, or no answer at all. */
export type DnsAnswer =
  | { readonly addresses: readonly string[]; readonly alias?: string }
  | 'no such name'
  | 'failure'
  | 'silence';

export interface DnsServer {
  /** The address in the form of EGRESS_DNS. */
  readonly address: string;
  readonly questions: DnsQuestion[];
  close(): Promise<void>;
}

const typeNumbers = { A: 1, AAAA: 28, CNAME: 5 };
const responseCodes = { 'no such name': 3, failure: 2 };

/** Starts a name server on this machine that answers what `answer` returns. */
export async function startDnsServer(
  answer: (question: DnsQuestion) => DnsAnswer,
): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const { question, end } = readQuestion(query);
    questions.push(question);
    const answered = answer(question);
    if (answered !== 'silence') {
      socket.send(reply(query.subarray(0, end), question, answered), port, address);
    }
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(query: Buffer): { question: DnsQuestion; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  return {
    question: {
      name: labels.join('.'),
      type: type === typeNumbers.A ? 'A' : type === typeNumbers.AAAA ? 'AAAA' : 'other',
    },
    end: at + 5,
  };
}

function reply(
  query: Buffer,
  { name, type }: DnsQuestion,
  answer: Exclude<DnsAnswer, 'silence'>,
): Buffer {
  const head = Buffer.from(query);
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? responseCodes[answer] : 0), 2);
  const records: Buffer[] = [];
  if (typeof answer === 'object') {
    const owner = answer.alias ?? name;
    if (answer.alias) records.push(record(name, typeNumbers.CNAME, encodeName(answer.alias)));
    for (const address of answer.addresses) {
      if (isIPv6(address) === (type === 'AAAA')) {
        records.push(record(owner, isIPv6(address) ? 28 : 1, encodeAddress(address)));
      }
    }
  }
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...records]);
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(owner), fixed, data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => {
    const text = Buffer.from(label, 'latin1');
    return Buffer.concat([Buffer.from([text.length]), text]);
  });
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function encodeAddress(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const first = head.split(':').filter(Boolean);
  const last = tail.split(':').filter(Boolean);
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  const groups = [...first, ...zeros, ...last].map((group) => group.padStart(4, '0'));
  return Buffer.from(groups.join(''), 'hex');
}
