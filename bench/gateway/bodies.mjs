import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTokens } from './setting.mjs';

const oneKilobyte = 1_024;

/** For each body a script of Lua, which tells wrk what to send; the bodies that have tokens are `N-tokens`. */
export async function prepareScripts({ folder, ...setting }, wanted) {
  const counts = { '1-tokens': 1, '10-tokens': 10, '100-tokens': 100 };
  const ids = wanted.some((name) => name in counts) ? await createTokens(setting, 100) : [];
  const scripts = {};
  for (const name of new Set(wanted.filter(Boolean))) {
    const tokens = ids.slice(0, counts[name] ?? 0).map((id, at) => [`field_${at}`, `{{ ${id} }}`]);
    const size = name === '100k' ? 100 * oneKilobyte : oneKilobyte;
    const file = join(folder, `${name}.json`);
    writeFileSync(file, padded({ amount: 1, ...Object.fromEntries(tokens) }, size));
    scripts[name] = `${file}.lua`;
    writeFileSync(scripts[name], posting(file));
  }
  return scripts;
}

const posting = (file) => `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = io.open("${file}"):read("*a")
`;

/** A document of many small members, brought to a size. */
function padded(document, bytes) {
  const whole = { ...document };
  let length = JSON.stringify(whole).length;
  for (let at = 0; length < bytes; at += 1) {
    const [name, value] = [`member_${at}`, 'text with a { in it'];
    whole[name] = value;
    length += name.length + value.length + '"":"",'.length;
  }
  return JSON.stringify(whole);
}
