// The shop sends JSON with a card, the provider takes a form and its secret key.
module.exports = async function ({ args, configuration }) {
  const { amount, currency, card } = args.body;
  return {
    headers: {
      Authorization: `Bearer ${configuration.SECRET_KEY}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: {
      amount,
      currency,
      'card[number]': card.number,
      'card[exp_month]': card.expiration_month,
      'card[exp_year]': card.expiration_year,
    },
  };
};
