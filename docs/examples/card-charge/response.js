const { InvalidPaymentMethodError, ReactorRuntimeError } = require('@svc/reactor-errors');

// The provider answers with the whole card. The shop gets what is named here, and nothing else.
module.exports = async function ({ args: { status, body } }) {
  if (status === 402) throw new InvalidPaymentMethodError({ card: 'cannot be charged' });
  if (status !== 201) throw new ReactorRuntimeError('the provider refused the request');
  return {
    headers: { 'Content-Type': 'application/json' },
    body: { id: body.id, status: body.status, last4: body.card.number.slice(-4) },
  };
};
