// Checked by the compiler alone: code as it is stored, with the types of the packed package.
const { BadRequestError } = require('@svc/reactor-errors');

/** @type {import('@glovebox/reactor-types').Reactor<{ n: number }>} */
module.exports = async ({ args, configuration }) => {
  if (args.n < 0) throw new BadRequestError({ n: ['must not be negative'] });
  return { raw: { sum: args.n + 1, key: configuration.KEY } };
};
