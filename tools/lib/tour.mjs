/** Prints the id of the resource on standard input. */
const idOf = `node -p 'JSON.parse(require("fs").readFileSync(0, "utf8")).id'`;
const keyOf = idOf.replace('.id', '.key');

const json = `-H "Content-Type: application/json"`;
const asAdmin = '-H "SVC-API-KEY: $ADMIN_KEY"';
const asApp = '-H "SVC-API-KEY: $PRIVATE_KEY"';

/**
 * The lines of the tour. A test pastes them into a POSIX shell, one after the other.
 *
 * @param {{ baseUrl: string, adminKey: string, privateKey: string, demoDestination: string }} dev
 * @returns {import('./types.js').TourStep[]}
 */
export function tour({ baseUrl, adminKey, privateKey, demoDestination }) {
  return [
    {
      comment: 'Where it runs and who calls',
      command: `export BASE_URL=${baseUrl} DEMO_URL=${demoDestination}`,
    },
    { command: `export ADMIN_KEY=${adminKey} PRIVATE_KEY=${privateKey}` },
    {
      comment: 'Store a secret: what comes back is a token that stands for it',
      command: `TOKEN_ID=$(curl -s "$BASE_URL/tokens" ${asApp} ${json} -d '{"type":"token","data":"s3cret"}' | ${idOf})`,
    },
    { command: 'echo "$TOKEN_ID"' },
    {
      comment: 'A proxy to the demo destination: there the token has become the secret',
      command: `PROXY_KEY=$(curl -s "$BASE_URL/proxies" ${asAdmin} ${json} -d '{"name":"echo","destination_url":"'"$DEMO_URL"'/echo"}' | ${keyOf})`,
    },
    {
      command: `curl -s "$BASE_URL/proxy" ${asApp} -H "SVC-PROXY-KEY: $PROXY_KEY" ${json} -d '{"value":"{{'"$TOKEN_ID"'}}"}'`,
    },
    {
      comment: 'A formula in JavaScript, and a reactor that runs it',
      command: `FORMULA_ID=$(curl -s "$BASE_URL/reactor-formulas" ${asAdmin} ${json} -d '{"type":"private","name":"add","code":"module.exports = async ({ args }) => ({ raw: { sum: args.a + args.b } });","request_parameters":[{"name":"a","type":"number"},{"name":"b","type":"number"}]}' | ${idOf})`,
    },
    {
      command: `REACTOR_ID=$(curl -s "$BASE_URL/reactors" ${asAdmin} ${json} -d '{"name":"add","configuration":{},"formula":{"id":"'"$FORMULA_ID"'"}}' | ${idOf})`,
    },
    {
      command: `curl -s "$BASE_URL/reactors/$REACTOR_ID/react" ${asApp} ${json} -d '{"args":{"a":2,"b":"3"}}'; echo`,
    },
    {
      comment:
        'The same run in the background: its result arrives at the demo destination as a webhook',
      command: `curl -s "$BASE_URL/reactors/$REACTOR_ID/react" ${asApp} ${json} -d '{"args":{"a":20,"b":22},"callback_url":"'"$DEMO_URL"'/hooks/add"}'; echo`,
    },
    { command: `sleep 2; curl -s "$DEMO_URL/hooks/add"` },
  ];
}

const weak = `
WARNING: SANDBOX_ALLOW_WEAK is set. Code of reactors and transforms is NOT contained: it can read
and change everything that this user can. Run only code that you trust.
`;

/** @param {import('./types.js').Dev} dev */
export function printTour(dev) {
  console.log(`
Base URL          ${dev.baseUrl}
Management key    ${dev.adminKey}
Private key       ${dev.privateKey}
Demo destination  ${dev.demoDestination}
Sandboxes         ${dev.sandboxes}
${dev.sandboxes.startsWith('level 0') ? weak : ''}
A tour, to paste line by line:
`);
  for (const { comment, command } of tour(dev)) {
    if (comment) console.log(`# ${comment}`);
    console.log(command);
  }
  console.log();
}
