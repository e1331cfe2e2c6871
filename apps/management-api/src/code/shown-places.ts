import type { Sql } from '@glovebox/database';
import { codePlace } from '@glovebox/runs';
import type { CodeFrame, CodePlace } from '@glovebox/sandbox';
import type { Sealer } from '@glovebox/seal';
import { sourcePlaces, type SourcePlace } from './source-places';

/** What is told of a run with places of its code in it. */
export interface Told {
  readonly position?: CodePlace | undefined;
  readonly stack?: readonly CodeFrame[] | undefined;
  readonly lines: readonly { readonly text: string }[];
}

const inTexts = /\breactor\.js:(\d{1,7}):(\d{1,7})/g;
/** Places in the lines of a run that are looked up. */
const placesMax = 1_000;

/** Says places of a bundle as those of its sources, where a map of them was uploaded. */
export async function atSources<Shown extends Told>(
  {
    sql,
    sealer,
    tenantId,
  }: { readonly sql: Sql; readonly sealer: Sealer; readonly tenantId: string },
  codeId: string | null,
  told: Shown,
): Promise<Shown> {
  const places = placesIn(told);
  if (codeId === null || places.length === 0) return told;
  const [row] = await sql.query<{ map: Buffer }>(
    'SELECT map FROM code_texts WHERE tenant_id = $1 AND id = $2 AND map IS NOT NULL',
    [tenantId, codeId],
  );
  if (!row) return told;
  const map = (await sealer.open(codePlace(tenantId, codeId, 'map'), row.map)).toString('utf8');
  const found = sourcePlaces(map, places);
  const at = new Map(places.map((place, nth) => [keyOf(place), found[nth]]));
  return withPlaces(told, (place) => at.get(keyOf(place)));
}

const keyOf = ({ line, column }: CodePlace): string => `${line}:${column}`;

function placesIn({ position, stack = [], lines }: Told): CodePlace[] {
  const said = lines.flatMap(({ text }) =>
    [...text.matchAll(inTexts)].map(([, line, column]) => ({
      line: Number(line),
      column: Number(column),
    })),
  );
  const all = [...(position ? [position] : []), ...stack, ...said.slice(0, placesMax)];
  return [
    ...new Map(all.map(({ line, column }) => [`${line}:${column}`, { line, column }])).values(),
  ];
}

function withPlaces<Shown extends Told>(
  told: Shown,
  find: (place: CodePlace) => SourcePlace | undefined,
): Shown {
  const moved = <Place extends CodePlace>(place: Place): Place => ({ ...place, ...find(place) });
  const { position, stack, lines } = told;
  return {
    ...told,
    ...(position ? { position: moved(position) } : {}),
    ...(stack ? { stack: stack.map(moved) } : {}),
    lines: lines.map((line) => ({ ...line, text: inSources(line.text, find) })),
  };
}

const inSources = (text: string, find: (place: CodePlace) => SourcePlace | undefined): string =>
  text.replace(inTexts, (said: string, line: string, column: string) => {
    const place = find({ line: Number(line), column: Number(column) });
    return place ? `${place.source}:${place.line}:${place.column}` : said;
  });
