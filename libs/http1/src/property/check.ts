import { randomFrom } from '@glovebox/testing';
import { parse, type ParsedAnswer } from '../spec-parse';
import { makeCase, type Case } from './answers';
import { isRefusedByLlhttp8, understoodByNode, type Understood } from './llhttp';

interface Counts {
  accepted: number;
  refused: number;
}

const atOnce = 64;

/**
 * Compares our parser with llhttp. An answer that we accept, to its last byte, is the same answer
 * to llhttp, and is incomplete without that byte. The parts that it comes in make no difference.
 */
export async function checkCases(seed: number, count: number): Promise<Counts> {
  const random = randomFrom(seed);
  const counts: Counts = { accepted: 0, refused: 0 };
  for (let from = 0; from < count; from += atOnce) {
    const cases = Array.from({ length: Math.min(atOnce, count - from) }, () => makeCase(random));
    await Promise.all(
      cases.map(async (one, n) => {
        const fault = await checkCase(one, counts);
        if (fault !== undefined) {
          throw new Error(`seed ${seed}, case ${from + n}: ${JSON.stringify(one)}: ${fault}`);
        }
      }),
    );
  }
  return counts;
}

async function checkCase(one: Case, counts: Counts): Promise<string | undefined> {
  const asked = { isHead: one.method === 'HEAD', isUpgrade: one.isUpgrade, closes: true };
  const whole = parse(one.text, asked);
  const inParts = parse(one.text, { ...asked, sizes: one.sizes });
  const difference = differs(ours(whole), ours(inParts));
  if (difference !== undefined) return `in parts, ${difference}`;
  const understood = ours(whole);
  if (understood === undefined) {
    counts.refused += 1;
    return undefined;
  }
  counts.accepted += 1;
  const answer = one.text.slice(0, one.text.length - whole.left);
  const theirs = await understoodByNode(one, answer);
  if (theirs === undefined && isRefusedByLlhttp8(understood.status, answer)) return undefined;
  const unlike = differs(understood, theirs && { ...theirs, keeps: understood.keeps });
  if (unlike !== undefined) return `llhttp: ${unlike}`;
  // Node asks llhttp at the end of the head, without telling it that HEAD has no body.
  if (understood.keeps && !asked.isHead && !theirs?.keeps) return 'llhttp would close';
  // An answer that ends with the connection is whole after every byte.
  if (!understood.keeps && parse(answer.slice(0, -1), asked).read === 'complete') return undefined;
  const early = await understoodByNode(one, answer.slice(0, -1));
  return early === undefined ? undefined : 'llhttp takes it for whole before its last byte';
}

function ours({ read, recorder, keeps }: ParsedAnswer): Understood | undefined {
  if (read !== 'complete' && read !== 'switched') return undefined;
  const trailers = recorder.trailers ?? [];
  const isSwitched = read === 'switched';
  const { status, headers, body, informationals } = recorder;
  return {
    status,
    headers,
    body,
    trailers,
    informationals,
    keeps: keeps && !isSwitched,
    isSwitched,
  };
}

function differs(one: Understood | undefined, other: Understood | undefined): string | undefined {
  const [a, b] = [one, other].map((understood) => JSON.stringify(understood));
  return a === b ? undefined : `${String(a)} against ${String(b)}`;
}
