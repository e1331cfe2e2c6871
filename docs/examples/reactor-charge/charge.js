const axios = require('axios');
const { InvalidPaymentMethodError, ReactorRuntimeError } = require('@svc/reactor-errors');

// The provider answers with the whole card. The shop gets the charge, and a token for the card.
module.exports = async function ({ args: { card, amount, currency }, configuration }) {
  const form = new URLSearchParams({
    amount,
    currency,
    'card[number]': card.number,
    'card[exp_month]': card.expiration_month,
    'card[exp_year]': card.expiration_year,
  });
  const { status, data } = await axios.post(configuration.PROVIDER_URL, form.toString(), {
    headers: { Authorization: `Bearer ${configuration.SECRET_KEY}` },
    validateStatus: () => true,
  });
  if (status === 402) throw new InvalidPaymentMethodError({ card: 'cannot be charged' });
  if (status !== 201) throw new ReactorRuntimeError('the provider refused the request');
  return {
    raw: { id: data.id, status: data.status, amount: data.amount },
    tokenize: { paid_with: { type: 'card_number', data: data.card.number } },
  };
};
