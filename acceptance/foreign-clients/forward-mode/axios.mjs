// node axios.mjs URL PACKAGE_FOLDER
import { createRequire } from 'node:module';
import { calls, tell } from './calls.mjs';

const axios = createRequire(`${process.argv[3]}/`)('axios');
for (const { url, headers, body } of calls) {
  const { status, headers: answered, data } = await axios.post(url, body, { headers });
  tell(status, answered['x-charged-with'], data);
}
