import { lettersBetween } from '@glovebox/problems';

const gatewayPaths = ['/proxy', '/reactors/:id/react', '/health/live', '/health/ready'];
const ofGateway = /^\/(?:proxy(?:\/[^]*)?|reactors\/[^/]+\/react\/?|health\/(?:live|ready)\/?)$/;

/** A longer path is compared with none. */
const pathLength = 200;
/** Letters that a word of a path may be away from the right one. */
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
    const word = words[at] ?? '';
    if (Math.abs(word.length - want.length) > farthest) return Infinity;
    const between = lettersBetween(word.toLowerCase(), want);
    if (between > Math.min(farthest, (want.length - 1) / 2)) return Infinity;
    distance += between;
  }
  return distance;
}
