import type { RequestOptions } from 'node:http';
import type { Place } from './planted-places';
import type { PlantedResources } from './planted-resources';
import type { PlantedSecrets } from './planted-secrets';
import { answerTo, forwardAuthority, openTunnel } from '../forward-tunnel';
import { create, type Product } from '../product';
import { startReceiver } from '../receiver';

const host = 'planted.example';

/** How every private key for ECDSA with P-256 begins, before its number. */
const beginOfPrivateKey = Buffer.from(
  '308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420',
  'hex',
);

/**
 * Sends data through forward mode, in plain HTTP and in a tunnel, to a destination that repeats all of
 * it. Returns what came back.
 */
export async function useForwardMode(
  product: Product,
  secrets: PlantedSecrets,
  planted: PlantedResources,
): Promise<Place[]> {
  secrets.add('begin of the private key of an authority', beginOfPrivateKey);
  const destination = await startReceiver((res, { url, headers, body }) =>
    res
      .setHeader('x-echo', headers.authorization ?? '')
      .end(JSON.stringify({ url, headers, body })),
  );
  try {
    await makeMatchedProxy(product, secrets, planted, destination.url);
    const [plain, tunnelled] = [
      await sendPlain(product, planted),
      await sendInTunnel(product, planted),
    ];
    for (const { url, headers, body } of destination.received) {
      const { 'x-step': step, authorization } = headers;
      const places = [url, body, authorization].map((text) => text?.includes(planted.values.text));
      if (!places.every(Boolean) || !String(step).includes(planted.values.card)) {
        throw new Error('a value did not arrive at the destination of forward mode');
      }
    }
    return [plain, tunnelled].map((answer) => ['answer of forward mode', Buffer.from(answer)]);
  } finally {
    await destination.close();
  }
}

/** Its step adds a token and a literal of the tenant. */
async function makeMatchedProxy(
  product: Product,
  secrets: PlantedSecrets,
  { tokens }: PlantedResources,
  destinationUrl: string,
): Promise<void> {
  const application = await create(product, '/applications', {
    name: 'planted in a step',
    type: 'private',
    permissions: ['token:use'],
  });
  secrets.add('key of the application of a step', String(application.key));
  const value = `${secrets.text('literal of a step')} {{ ${tokens.card} | json: '$.number' }}`;
  const proxy = await create(product, '/proxies', {
    name: 'planted for forward mode',
    destination_url: destinationUrl,
    match: { hosts: [host, `http://${host}`] },
    application: { id: application.id },
    request_transforms: [
      { type: 'append', options: { location: 'header', name: 'X-Step', value } },
    ],
    scrub: true,
  });
  secrets.add('key of a matched proxy', String(proxy.key));
}

const bodyOf = ({ tokens }: PlantedResources): string => `body {{ ${tokens.text} }}`;
const messageOf = (planted: PlantedResources): RequestOptions => ({
  method: 'POST',
  path: `/charge?q=${encodeURIComponent(`{{ ${planted.tokens.text} }}`)}`,
  headers: {
    host,
    'content-type': 'text/plain',
    'content-length': Buffer.byteLength(bodyOf(planted)),
    authorization: `Bearer {{ ${planted.tokens.text} }}`,
  },
});

function sendPlain({ forwardUrl }: Product, planted: PlantedResources): Promise<string> {
  const { hostname, port } = new URL(forwardUrl);
  const message = messageOf(planted);
  const options = {
    ...message,
    ...{ host: hostname, port, path: `http://${host}${message.path}` },
    headers: { ...message.headers, 'proxy-authorization': `Bearer ${planted.key}` },
  };
  return answerTo(options, bodyOf(planted));
}

async function sendInTunnel(product: Product, planted: PlantedResources): Promise<string> {
  const ca = await forwardAuthority(product);
  const tunnel = await openTunnel(product, { host, key: planted.key, ca });
  const options = { ...messageOf(planted), createConnection: () => tunnel };
  const answer = await answerTo(options, bodyOf(planted));
  tunnel.destroy();
  return answer;
}
