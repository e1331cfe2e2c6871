import { inSlices } from '@glovebox/expressions';
import { isJsonObject, readBody, StrictJson, type JsonObject } from '@glovebox/wire';
import type { ManagementContext } from '../context';
import { checkMediaType } from '../http/check-media-type';
import type { ApiRequest } from '../http/request';
import { BodyRoom } from '../shares/body-room';

const codeBytesMax = 4 * 1024;
/** Those who are not signed in yet share the room of one tenant. */
const nobody = 'not signed in';

/** The members of a body with a code. */
export async function readSmallBody(
  { bodies }: ManagementContext,
  request: ApiRequest,
): Promise<JsonObject> {
  checkMediaType(request);
  const room = new BodyRoom(bodies, nobody);
  try {
    const json = new StrictJson();
    const bytes = await readBody(request, codeBytesMax, room, json.count);
    const body = bytes.length === 0 ? {} : await inSlices(json.parse(bytes));
    return isJsonObject(body) ? body : {};
  } finally {
    room.leave();
  }
}
