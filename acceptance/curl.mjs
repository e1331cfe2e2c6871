#!/usr/bin/env node
// The options of curl that the README uses: a bare machine has no curl, its readers do.
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
  },
});

const answer = await fetch(positionals[0], {
  method: values.request ?? (values.data === undefined ? 'GET' : 'POST'),
  headers: values.header.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }),
  body: values.data,
});
process.stdout.write(await answer.text());
