import { inSlices, type Work } from '@glovebox/expressions';
import type { Room } from '../../call/call-shares';
import type { MadeAnswer } from '../transforms/sent-by-code';
import { Scrubber, type Search } from './search';

/** Headers or trailers without the values. A line whose name holds one is dropped. */
export function scrubbedLines(search: Search, lines: string[]): string[] {
  const all = Buffer.from(lines.join('\n'), 'latin1');
  // Almost always there is none.
  if (search.next(all, 0, true).start === all.length) return lines;
  const scrubbed: string[] = [];
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const name = lines[at] ?? '';
    if (scrubbedText(search, name) !== name) continue;
    scrubbed.push(name, scrubbedText(search, lines[at + 1] ?? ''));
  }
  return scrubbed;
}

const scrubbedText = (search: Search, text: string): string =>
  new Scrubber(search).write(Buffer.from(text, 'latin1'), true).toString('latin1');

/** An answer that was made here, without the values. */
export async function scrubbedMade(
  search: Search,
  { status, headers, body }: MadeAnswer,
  room: Pick<Room, 'keep'>,
): Promise<MadeAnswer> {
  return {
    status,
    headers: scrubbedLines(search, [...headers]),
    body: body && (await inSlices(scrubbedWhole(search, body, room))),
  };
}

const sliceBytes = 64 * 1024;

function* scrubbedWhole(search: Search, body: Buffer, room: Pick<Room, 'keep'>): Work<Buffer> {
  const scrubber = new Scrubber(search);
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += sliceBytes) {
    const slice = body.subarray(at, at + sliceBytes);
    const part = scrubber.write(slice, at + sliceBytes >= body.length);
    room.keep(part.length);
    parts.push(part);
    yield;
  }
  return Buffer.concat(parts);
}
