// node stripe.mjs PACKAGE_FOLDER [fetch]
import { createRequire } from 'node:module';

const Stripe = createRequire(`${process.argv[2]}/`)('stripe');
const httpClient = process.argv[3] === 'fetch' ? Stripe.createFetchHttpClient() : undefined;
const stripe = new Stripe(process.env.STRIPE_API_KEY, {
  ...{ httpClient, maxNetworkRetries: 0, telemetry: false },
});
const { customer, card } = { customer: process.env.SHOP_ACCOUNT, card: process.env.SHOP_CARD };
const charge = await stripe.charges.create({
  ...{ amount: 1200, currency: 'eur', description: card },
});
const { data } = await stripe.charges.list({ customer });
const refused = await stripe.charges.retrieve('ch_none').catch((error) => error);
console.log(
  JSON.stringify({
    made: [charge.id, charge.description, charge.lastResponse.statusCode],
    listed: data.map(({ customer: of }) => of),
    refused: [refused.type, refused.statusCode, refused.message],
  }),
);
