const { SHOP_KEY, SHOP_ACCOUNT, SHOP_CARD } = process.env;

/** What every client of JavaScript sends, in the order of its calls. */
export const calls = ['charge', 'stream'].map((path) => ({
  url: `${process.argv[2]}/${path}?${new URLSearchParams({ account: SHOP_ACCOUNT })}`,
  headers: { authorization: `Bearer ${SHOP_KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({ card: SHOP_CARD }),
}));

export const tell = (status, chargedWith, body) =>
  console.log(JSON.stringify({ status, chargedWith, body }));
