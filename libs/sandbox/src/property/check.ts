import { brokenFrames, chunksOf, randomFrom, type Random } from '@glovebox/testing';
import { FrameDecoder, FrameError } from '../frames';
import { described, readPlainly, type Limits, type Read } from './reference';

interface Counts {
  frames: number;
  refused: number;
  accepted: number;
}

const kindsOfLimits: readonly Limits[] = [
  { head: 4_096, value: 1_048_576 },
  { head: 4_096, value: 64 },
  { head: 64, value: 0 },
];

/** The decoder reads each stream as the reference does, whatever the chunks and the pauses. */
export function checkStreams(seed: number, count: number): Counts {
  const random = randomFrom(seed);
  const counts: Counts = { frames: 0, refused: 0, accepted: 0 };
  for (let n = 0; n < count; n += 1) {
    const bytes = brokenFrames(random);
    const limits = kindsOfLimits[random(kindsOfLimits.length)] as Limits;
    const expected = readPlainly(bytes, limits);
    const read = decode(random, chunksOf(random, bytes), limits);
    if (JSON.stringify(read) !== JSON.stringify(expected)) {
      const [ours, plain] = [JSON.stringify(read), JSON.stringify(expected)];
      throw new Error(`seed ${seed}, case ${n}: ${bytes.toString('hex')}: ${ours} not ${plain}`);
    }
    counts.frames += read.frames.length;
    counts[read.isRefused ? 'refused' : 'accepted'] += 1;
  }
  return counts;
}

function decode(random: Random, chunks: readonly Buffer[], limits: Limits): Read {
  const frames: string[] = [];
  const pauses = random(3) === 0;
  let isPaused = false;
  const decoder = new FrameDecoder(
    (frame) => {
      if (frame.type === 'DATA') frames.push(described('DATA', frame.stream, frame.data));
      else frames.push(described(frame.type, frame.head, frame.value));
      if (!pauses || random(2) === 0) return;
      decoder.pause();
      isPaused = true;
    },
    () => limits.value,
    limits.head,
  );
  const resume = (): void => {
    isPaused = false;
    decoder.resume();
  };
  try {
    for (const chunk of chunks) {
      decoder.push(chunk);
      if (isPaused && random(2) === 0) resume();
    }
    while (isPaused) resume();
    return { frames, isRefused: false };
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    return { frames, isRefused: true };
  }
}
