#!/usr/bin/env node
// Understands the options of curl that documents use: a bare machine has no curl.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'fail-with-body': { type: 'boolean' },
    silent: { type: 'boolean', short: 's' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
  },
});

/** @param {string} name */
const textOf = (name) => readFileSync(name === '-' ? 0 : name, 'utf8');
const headers = values.header.flatMap((line) =>
  line.startsWith('@') ? textOf(line.slice(1)).trim().split('\n') : [line],
);
const data = values.data?.startsWith('@') ? textOf(values.data.slice(1)) : values.data;

// Not fetch, which takes longer to load than all else here.
request(positionals[0] ?? '', {
  method: values.request ?? (data === undefined ? 'GET' : 'POST'),
  headers: Object.fromEntries(
    headers.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  ),
})
  .on('response', (answer) => {
    if (values['fail-with-body'] && Number(answer.statusCode) >= 400) process.exitCode = 22;
    answer.pipe(process.stdout);
  })
  .end(data);
