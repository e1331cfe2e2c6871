import { tokenType, tokenTypes } from './token-types';
import { validateToken } from './valid-token';

const faults = (type: string, data: unknown) => tokenType(type)?.faultsOf(data);
const mask = (type: string, data: unknown) => tokenType(type)?.maskOf(data);
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };

it.each([
  ['token', '/general/high/', 'any'],
  ['card', '/pci/high/', card],
  ['bank', '/bank/high/', { routing_number: '021000021', account_number: '1234567' }],
  ['card_number', '/pci/high/', card.number],
  ['us_bank_account_number', '/bank/high/', '1234567'],
  ['us_bank_routing_number', '/bank/low/', '021000021'],
  ['social_security_number', '/pii/high/', '123-45-6789'],
  ['employer_id_number', '/pii/high/', '12-3456789'],
])('a token of type %s is stored in %s unless a container is given', (type, container, data) => {
  expect(validateToken({ type, data }).container).toBe(container);
  expect(validateToken({ type, data, containers: ['/X/'] }).container).toBe('/x/');
  expect(tokenTypes).toContain(type);
});

it.each<[string, unknown]>([
  ['card', card],
  ['card', { number: '4242424242424242' }],
  ['card', { ...card, cvc: '123' }],
  ['card', { ...card, cvc: null, holder: 'Ada' }],
  ['card', { ...card, expiration_month: '01', expiration_year: '2030' }],
  ['card_number', '378282246310005'],
  ['card_number', '6304000000000000000'.slice(0, 18) + '0'],
  ['us_bank_account_number', '123'],
  ['us_bank_account_number', '12345678901234567'],
  ['us_bank_routing_number', '011401533'],
  ['social_security_number', '123456789'],
  ['social_security_number', '123-45-6789'],
  ['employer_id_number', '12-3456789'],
])('a token of type %s may hold %j', (type, data) => {
  expect(faults(type, data)).toEqual({});
});

it.each<[string, unknown, string]>([
  ['card', '4242424242424242', 'data'],
  ['card', [], 'data'],
  ['card', null, 'data'],
  ['card', {}, 'data.number'],
  ['card', { number: '4242424242424241' }, 'data.number'],
  ['card', { number: 4242424242424242 }, 'data.number'],
  ['card', { number: '4242 4242 4242 4242' }, 'data.number'],
  ['card', { number: '00000000000' }, 'data.number'],
  ['card', { number: '00000000000000000000' }, 'data.number'],
  ['card', { ...card, expiration_month: 0 }, 'data.expiration_month'],
  ['card', { ...card, expiration_month: 13 }, 'data.expiration_month'],
  ['card', { ...card, expiration_month: 1.5 }, 'data.expiration_month'],
  ['card', { ...card, expiration_month: true }, 'data.expiration_month'],
  ['card', { ...card, expiration_year: 30 }, 'data.expiration_year'],
  ['card', { ...card, cvc: '12' }, 'data.cvc'],
  ['card', { ...card, cvc: 123 }, 'data.cvc'],
  ['bank', { routing_number: '021000021' }, 'data.account_number'],
  ['bank', { routing_number: '021000022', account_number: '1234' }, 'data.routing_number'],
  ['bank', { routing_number: '021000021', account_number: '12' }, 'data.account_number'],
  ['card_number', '4242424242424241', 'data'],
  ['us_bank_account_number', '12', 'data'],
  ['us_bank_account_number', '123456789012345678', 'data'],
  ['us_bank_routing_number', '021000022', 'data'],
  ['us_bank_routing_number', '000000000', 'data'],
  ['social_security_number', '12345678', 'data'],
  ['social_security_number', '1234567890', 'data'],
  ['social_security_number', '123--45-6789', 'data'],
  ['social_security_number', '-123456789', 'data'],
  ['employer_id_number', 123456789, 'data'],
])('a token of type %s may not hold %j, and the error names %s', (type, data, member) => {
  expect(Object.keys(faults(type, data) ?? {})).toEqual([member]);
});

it.each<[string, unknown, unknown]>([
  ['token', 'anything', undefined],
  [
    'card',
    { ...card, cvc: '123' },
    { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
  ],
  ['card', { number: card.number }, { number: 'XXXXXXXXXXXX4242' }],
  [
    'bank',
    { routing_number: '021000021', account_number: '1234567' },
    { routing_number: '021000021', account_number: 'XXX4567' },
  ],
  ['card_number', '378282246310005', 'XXXXXXXXXXX0005'],
  ['us_bank_account_number', '1234', 'XXXX'],
  ['us_bank_account_number', '12345', 'X2345'],
  ['us_bank_routing_number', '021000021', 'XXXXX0021'],
  ['social_security_number', '123-45-6789', 'XXX-XX-6789'],
  ['employer_id_number', '12-3456789', 'XX-XXX6789'],
])('a token of type %s masks %j', (type, data, shown) => {
  expect(mask(type, data)).toEqual(shown);
});
