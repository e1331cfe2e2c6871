/** The frames of a whole stream, read in the plainest way, and whether what follows is refused. */
export interface Read {
  readonly frames: readonly string[];
  readonly isRefused: boolean;
}

export interface Limits {
  readonly head: number;
  readonly value: number;
}

const types =
  'HELLO READY LOAD LOADED INVOKE RESULT RPC RPCRES LOG CANCEL PING PONG STREAM DATA REST INSPECT';
const names = ['', ...types.split(' ')];

export function readPlainly(bytes: Buffer, limits: Limits): Read {
  const frames: string[] = [];
  for (let at = 0; bytes.length - at >= 9;) {
    const length = bytes.readUInt32LE(at);
    const type = names[bytes.readUInt8(at + 4)];
    const second = bytes.readUInt32LE(at + 5);
    const headBytes = type === 'DATA' ? 0 : second;
    const valueBytes = length - 5 - headBytes;
    const fits = valueBytes >= 0 && valueBytes <= limits.value && headBytes <= limits.head;
    if (!type || !fits) return { frames, isRefused: true };
    if (bytes.length < at + 4 + length) break;
    const head = type === 'DATA' ? second : objectIn(bytes.subarray(at + 9, at + 9 + headBytes));
    if (head === undefined) return { frames, isRefused: true };
    const value = bytes.subarray(at + 9 + headBytes, at + 4 + length);
    frames.push(described(type, head, value));
    at += 4 + length;
  }
  return { frames, isRefused: false };
}

export const described = (type: string, head: unknown, value: Buffer): string =>
  `${type} ${JSON.stringify(head)} ${value.toString('hex')}`;

function objectIn(text: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(text.toString());
    return typeof value === 'object' && !Array.isArray(value) ? (value ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}
