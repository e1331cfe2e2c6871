import { GloveboxError, type Glovebox } from '@glovebox/client';
import type { Bundle } from './bundle';
import type { LocalItem } from './items';

/** A text that a deployment names and the server lacks, with its place among the items. */
interface Lacked {
  readonly place: string;
  readonly bundle: Bundle;
}

const mapBytesMax = 2 * 1024 * 1024;
const place = /^(items\.(\d+)\.((?:formula|request_transform|response_transform)\.code))_sha256$/;

/** The texts for whose want alone a deployment was refused. */
export function lackedBundles(error: unknown, locals: readonly LocalItem[]): readonly Lacked[] {
  if (!(error instanceof GloveboxError) || error.problem.status !== 400) return [];
  const paths = Object.keys(error.problem.errors ?? {});
  const lacked = paths.flatMap((path) => {
    const [, at, nth, member] = place.exec(path) ?? [];
    const bundle = member && locals[Number(nth)]?.bundles[member];
    return at !== undefined && bundle ? [{ place: at, bundle }] : [];
  });
  return lacked.length === paths.length ? lacked : [];
}

/** Uploads texts with their maps. `refused` hears at which item is what one is refused for. */
export async function uploadBundles(
  api: Glovebox,
  lacked: readonly Lacked[],
  refused: (place: string, error: unknown) => unknown,
): Promise<void> {
  const done = new Set<string>();
  for (const { place: at, bundle } of lacked) {
    const { sha256, code, map } = bundle;
    if (sha256 === undefined || done.has(sha256)) continue;
    done.add(sha256);
    const params = { path: { sha256 } };
    await api.put('/code/{sha256}', { params, body: { code } }).catch((error: unknown) => {
      throw refused(at, error);
    });
    if (map === undefined || Buffer.byteLength(map) > mapBytesMax) continue;
    await api.put('/code/{sha256}/map', { params, body: { map } });
  }
}
