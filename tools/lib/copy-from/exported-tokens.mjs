import { createReadStream } from 'node:fs';
import { Trouble } from '../progress.mjs';
import { readExactly } from './exact-json.mjs';

const tokensAtATime = 100;
const batchCharactersMax = 4 * 1024 * 1024;
const lineCharactersMax = 16 * 1024 * 1024;

/**
 * The tokens of an export, some at a time: each line is one as JSON.
 *
 * @param {string} file
 * @returns {AsyncGenerator<import('./read-tokens.mjs').ReadToken[]>}
 */
export async function* exportedTokens(file) {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  stream.setEncoding('utf8');
  /** @type {import('./read-tokens.mjs').ReadToken[]} */
  let batch = [];
  let [characters, number] = [0, 0];
  for await (const line of linesOf(stream)) {
    number += 1;
    if (line.trim() === '') continue;
    batch.push({ token: tokenIn(line, number) });
    characters += line.length;
    if (batch.length < tokensAtATime && characters < batchCharactersMax) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** @param {AsyncIterable<string>} stream */
async function* linesOf(stream) {
  let rest = '';
  for await (const part of stream) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lineCharactersMax) throw new Trouble('The export: a line is too long.');
    yield* lines;
  }
  yield rest;
}

/**
 * @param {string} line
 * @param {number} number
 */
function tokenIn(line, number) {
  try {
    const token = readExactly(line);
    if (typeof token === 'object' && token !== null && !Array.isArray(token)) {
      return /** @type {import('./api.mjs').Json} */ (token);
    }
  } catch {
    // Words of the parser would show the line.
  }
  throw new Trouble(`The export: line ${number} is not a token as a JSON object.`);
}
