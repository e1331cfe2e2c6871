import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTokens } from './setting.mjs';

const oneKilobyte = 1_024;

/**
 * Writes a Lua script for each body, which wrk sends. Bodies with tokens are named `N-tokens`.
 *
 * @param {import('../types.js').Setting} setting
 * @param {readonly (string | undefined)[]} wanted
 */
export async function prepareScripts(setting, wanted) {
  /** @type {Record<string, number>} */
  const counts = { '1-tokens': 1, '10-tokens': 10, '100-tokens': 100 };
  const ids = wanted.some((name) => name && name in counts) ? await createTokens(setting, 100) : [];
  /** @type {Record<string, string>} */
  const scripts = {};
  for (const name of new Set(wanted)) {
    if (name === undefined) continue;
    const tokens = ids.slice(0, counts[name] ?? 0).map((id, at) => [`field_${at}`, `{{ ${id} }}`]);
    const size = name === '100k' ? 100 * oneKilobyte : oneKilobyte;
    const file = join(setting.folder, `${name}.json`);
    writeFileSync(file, padded({ amount: 1, ...Object.fromEntries(tokens) }, size));
    const script = `${file}.lua`;
    scripts[name] = script;
    writeFileSync(script, posting(file));
  }
  return scripts;
}

/** @param {string} file */
const posting = (file) => `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = io.open("${file}"):read("*a")
`;

/**
 * A document of many small members, padded to a size.
 *
 * @param {object} document
 * @param {number} bytes
 */
function padded(document, bytes) {
  /** @type {Record<string, unknown>} */
  const whole = { ...document };
  let length = JSON.stringify(whole).length;
  for (let at = 0; length < bytes; at += 1) {
    const [name, value] = [`member_${at}`, 'text with a { in it'];
    whole[name] = value;
    length += name.length + value.length + '"":"",'.length;
  }
  return JSON.stringify(whole);
}
