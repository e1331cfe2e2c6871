import { readFileSync } from 'node:fs';
import { asyncKind, attackOf, Victim, type Quality } from './neighbour';
import { runningProduct } from '../product';

const product = runningProduct();
/** At least 200 calls of each kind: of fewer, the 99th percentile would be the slowest of all. */
const measuredMs = 8_000;

/** Memory that pages of one tenant may take: what they hold, several times over. */
const growthMaxBytes = 256 * 1024 * 1024;

function managementMemory(): number {
  const status = readFileSync(`/proc/${product.pids['management-api']}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}

let victim: Victim;
let quiet: Readonly<Record<string, Quality>>;

beforeAll(async () => {
  victim = await Victim.settle(product);
  await victim.measure(1_000);
  quiet = await victim.measure(measuredMs);
});
afterAll(() => victim.leave());

/**
 * A call may take five times as long as without an attack, or this time if it is longer. A webhook
 * has two queues to pass.
 */
function isHarmed(kind: string, { failures, p99Ms }: Quality): boolean {
  const bearableMs = kind === asyncKind ? 1_000 : 250;
  return (
    Object.keys(failures).length > 0 || p99Ms > Math.max(5 * (quiet[kind]?.p99Ms ?? 0), bearableMs)
  );
}

/** The attacks, and the answers that they may get. */
const attacks: readonly (readonly [does: string, answers: readonly string[]])[] = [
  ['code that throws a large error over many arguments', ['400']],
  ['definitions of a mebibyte', ['400', '413', '429']],
  ['a hundred tokens of a mebibyte in one request', ['200', '413', '429']],
  ['pages of large definitions to ten readers', ['200', '429']],
  ['pages of large definitions that nobody reads', ['200']],
  ['a run that leaves 150 large calls of its service open', ['200', '429', '504']],
  ['runs that tokenize 500 values at once, over and over', ['200', '429', '504']],
  ['maps of many members', ['400', '413', '429']],
  ['documents of five million numbers', ['400', '413', '429']],
  ['a run with 200 calls of its service at once', ['200', '429', '504']],
  ['a thousand destinations that hang', ['200', '429', '504']],
  ['webhooks to receivers that hang, by the hundred', ['202', '429']],
  ['async runs of ten seconds by the hundred', ['202', '429']],
  ['runs that look up names and connect without end', ['429', '500', '503', '504']],
  ['filters that cost as much as they may', ['200', '400', '413', '429']],
  ['bodies with fifty tokens of a megabyte', ['200', '413', '429']],
  ['searches of many terms', ['200', '400', '429']],
  ['code that leaves connections and loops behind', ['200', '429', '503']],
  ['bodies that are never sent to their end', ['408', '429']],
  ['a proxy that leads back to itself', ['200', '508']],
  ['tunnels to ever new names, with a handshake and a request in each', ['200', '429']],
  ['tunnels that stay silent, by the thousand', ['200', '429']],
  ['values whose forms under scrub are many', ['200', '413', '429']],
];

describe('a tenant is undisturbed while another one sends', () => {
  it.each(attacks)('%s', async (does, answers) => {
    const attack = await attackOf(product, does);
    const measured = await victim.measure(measuredMs);
    const answered = await attack.end();

    const harmed = Object.entries(measured).filter(([kind, quality]) => isHarmed(kind, quality));
    const setUp = ['201', '204'];
    const others = Object.entries(answered).filter(
      ([status]) => !answers.includes(status) && !setUp.includes(status),
    );
    expect({ harmed, others }).toEqual({ harmed: [], others: [] });
  });
});

it('three hundred large pages that nobody reads take little memory of the management API', async () => {
  const before = managementMemory();
  const attack = await attackOf(product, 'pages of large definitions that nobody reads');
  await victim.measure(measuredMs);
  const grown = managementMemory() - before;
  await attack.end();
  expect(grown).toBeLessThan(growthMaxBytes);
});
