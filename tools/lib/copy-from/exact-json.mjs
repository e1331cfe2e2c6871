import { randomUUID } from 'node:crypto';

// Numbers that JavaScript would write otherwise, such as 1.0 and those of more than 15 digits, are texts with this
// mark while they are here. Nobody outside knows the mark.
const mark = `${randomUUID()}:`;
const quotesAndNumbers = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const markedNumbers = new RegExp(`"${mark}([^"]+)"`, 'g');

/**
 * Reads JSON so that `writeExactly` writes every number as it was.
 *
 * @param {string} json
 * @returns {unknown}
 */
export function readExactly(json) {
  let isWithinText = false;
  return JSON.parse(
    json.replace(quotesAndNumbers, (found) => {
      if (found === '"') isWithinText = !isWithinText;
      const isKept = isWithinText || found === '"' || String(Number(found)) === found;
      return isKept ? found : `"${mark}${found}"`;
    }),
  );
}

/** @param {unknown} value */
export const writeExactly = (value) => JSON.stringify(value).replace(markedNumbers, '$1');
