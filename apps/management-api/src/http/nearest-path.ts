const gatewayPaths = ['/proxy', '/reactors/:id/react', '/health/live', '/health/ready'];
const ofGateway = /^\/(?:proxy(?:\/[^]*)?|reactors\/[^/]+\/react\/?|health\/(?:live|ready)\/?)$/;

/** A longer path is compared with none. */
const pathLength = 200;
/** Characters that a word of a path may be away from the right one. */
const farthest = 2;
const prefix = /^(?:api|v\d{1,3})$/i;

interface Nearest {
  readonly template: string;
  readonly differsInCaseAlone: boolean;
}

/**
 * Answers a path that nobody serves. It names paths of the API alone, with `{id}` in place of ids:
 * the path that was asked for may hold a key.
 *
 * @param templates such as `/tokens/:id`
 */
export function noSuchPath(asked: string, templates: readonly string[]): string {
  // Such a request has gone past the gateway.
  if (ofGateway.test(asked)) return 'There is no such path here: the gateway serves it.';
  const said = 'There is no such path.';
  const nearest = nearestTo(asked, [...gatewayPaths, ...templates]);
  if (!nearest) return `${said} GET /docs lists all.`;
  const shown = nearest.template.replaceAll(/:(\w+)/g, '{$1}');
  return nearest.differsInCaseAlone
    ? `${said} Letter case counts: ${shown}`
    : `${said} Did you mean ${shown}?`;
}

function nearestTo(asked: string, templates: readonly string[]): Nearest | undefined {
  if (asked.length > pathLength) return undefined;
  const all = wordsOf(asked);
  const from = all.findIndex((word) => !prefix.test(word));
  if (from < 0) return undefined;
  const words = all.slice(from);
  const [nearest] = templates
    .map((template) => ({ template, distance: distanceOf(words, template) }))
    .filter(({ distance }) => distance < Infinity)
    .sort((a, b) => a.distance - b.distance || idsIn(a.template) - idsIn(b.template));
  if (!nearest) return undefined;
  const isWhole = from === 0 && !asked.includes('//');
  return { template: nearest.template, differsInCaseAlone: isWhole && nearest.distance === 0 };
}

const idsIn = (template: string): number => template.split('/:').length;

const wordsOf = (path: string): string[] => path.split('/').filter((word) => word !== '');

/** Infinity: too far away. */
function distanceOf(words: readonly string[], template: string): number {
  const wanted = wordsOf(template);
  // What follows /proxy is for the destination.
  if (template !== '/proxy' && wanted.length !== words.length) return Infinity;
  let distance = 0;
  for (const [at, want] of wanted.entries()) {
    if (want.startsWith(':')) continue;
    const between = charactersBetween((words[at] ?? '').toLowerCase(), want);
    if (between > Math.min(farthest, (want.length - 1) / 2)) return Infinity;
    distance += between;
  }
  return distance;
}

/** The insertions, deletions and replacements from one word to the other. Infinity: too many. */
function charactersBetween(given: string, wanted: string): number {
  if (Math.abs(given.length - wanted.length) > farthest) return Infinity;
  let above = Array.from({ length: wanted.length + 1 }, (_, at) => at);
  for (let row = 1; row <= given.length; row += 1) {
    const line = [row];
    for (let at = 1; at <= wanted.length; at += 1) {
      const replaced = (above[at - 1] ?? 0) + (given[row - 1] === wanted[at - 1] ? 0 : 1);
      line.push(Math.min(replaced, (above[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1));
    }
    if (Math.min(...line) > farthest) return Infinity;
    above = line;
  }
  return above[wanted.length] ?? 0;
}
