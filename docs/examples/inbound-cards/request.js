const { createHmac, timingSafeEqual } = require('crypto');
const { AuthenticationError, BadRequestError } = require('@svc/reactor-errors');

const oldestMs = 5 * 60_000;

// Anybody who knows the URL may call: nothing is done before the signature fits.
module.exports = async function ({ args, configuration, svc }) {
  verify(args, configuration.WEBHOOK_SECRET);
  const { card, ...event } = args.body;
  if (!card) throw new BadRequestError({ card: 'is missing' });
  const token = await svc.tokenize({ type: 'card', data: card });
  return {
    headers: { 'Content-Type': 'application/json' },
    body: { ...event, card: token.id },
  };
};

// The third party signs `timestamp.body`, the body as it sends it: parsed and written anew it is another text.
function verify({ headers, raw_body = '' }, secret) {
  const timestamp = headers['x-timestamp'] ?? '';
  const age = Math.abs(Date.now() - Number(timestamp) * 1000);
  const expected = createHmac('sha256', secret).update(`${timestamp}.${raw_body}`).digest();
  const signature = Buffer.from(headers['x-signature'] ?? '', 'hex');
  // In constant time: how long a comparison takes must not tell how much of it fits.
  const fits = signature.length === expected.length && timingSafeEqual(signature, expected);
  if (!fits || !(age < oldestMs)) throw new AuthenticationError('the signature does not fit');
}
