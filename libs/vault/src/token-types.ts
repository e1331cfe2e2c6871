import { isJsonObject } from '@glovebox/wire';
import { isAbaRoutingNumber, lastFour, passesLuhn } from './account-numbers';

/** Errors by property path within the data. */
type Faults = Readonly<Record<string, readonly string[]>>;

export interface TokenType {
  readonly container: string;
  /** Returns the errors of data of this type, none if it may be stored. */
  readonly faultsOf: (data: unknown) => Faults;
  /** Makes the mask of a token that has none of its own. Undefined: it shows nothing. */
  readonly maskOf: (data: unknown) => unknown;
}

const anything: Omit<TokenType, 'container'> = {
  faultsOf: () => ({}),
  maskOf: () => undefined,
};

/** A string that passes a test. Its mask hides all but the last four digits. */
function digits(isRight: (text: string) => boolean, must: string): Omit<TokenType, 'container'> {
  return {
    faultsOf: (data) => (typeof data === 'string' && isRight(data) ? {} : { data: [must] }),
    maskOf: (data) => lastFour(String(data)),
  };
}

const mustBeCardNumber = 'must be a string of 12 to 19 digits with a valid check digit';
const mustBeAccount = 'must be a string of 3 to 17 digits';
const mustBeRouting = 'must be a string of 9 digits with a valid check digit';
const mustBeNine = 'must be a string of 9 digits; dashes may stand between them';

const isCardNumber = (text: string): boolean => /^\d{12,19}$/.test(text) && passesLuhn(text);
const isAccountNumber = (text: string): boolean => /^\d{3,17}$/.test(text);
const isNineDigits = (text: string): boolean => /^(?:\d-?){8}\d$/.test(text);

const cardMembers: Checks = {
  number: [isText(isCardNumber), mustBeCardNumber],
  'expiration_month?': [isMonth, 'must be a whole number from 1 to 12'],
  'expiration_year?': [isYear, 'must be a year of 4 digits'],
  'cvc?': [isText((text) => /^\d{3,4}$/.test(text)), 'must be a string of 3 or 4 digits'],
};

const card = {
  faultsOf: members(cardMembers),
  maskOf: (data: unknown) => {
    const { number, expiration_month, expiration_year } = membersOf(data);
    return {
      number: lastFour(String(number)),
      ...(expiration_month === undefined ? {} : { expiration_month }),
      ...(expiration_year === undefined ? {} : { expiration_year }),
    };
  },
};

const bankMembers: Checks = {
  routing_number: [isText(isAbaRoutingNumber), mustBeRouting],
  account_number: [isText(isAccountNumber), mustBeAccount],
};

const bank = {
  faultsOf: members(bankMembers),
  maskOf: (data: unknown) => {
    const { routing_number, account_number } = membersOf(data);
    return { routing_number, account_number: lastFour(String(account_number)) };
  },
};

const types = new Map<unknown, TokenType>(
  Object.entries({
    token: { container: '/general/high/', ...anything },
    card: { container: '/pci/high/', ...card },
    bank: { container: '/bank/high/', ...bank },
    card_number: { container: '/pci/high/', ...digits(isCardNumber, mustBeCardNumber) },
    us_bank_account_number: { container: '/bank/high/', ...digits(isAccountNumber, mustBeAccount) },
    us_bank_routing_number: {
      container: '/bank/low/',
      ...digits(isAbaRoutingNumber, mustBeRouting),
    },
    social_security_number: { container: '/pii/high/', ...digits(isNineDigits, mustBeNine) },
    employer_id_number: { container: '/pii/high/', ...digits(isNineDigits, mustBeNine) },
  }),
);

export const tokenTypes: readonly string[] = [...types.keys()].map(String);

/** The fault of any other name. */
export const mustBeType = `must be ${tokenTypes.slice(0, -1).join(', ')} or ${tokenTypes.at(-1)}`;

/** The names of members that types define. */
export const typedMembers: readonly string[] = Object.keys({ ...cardMembers, ...bankMembers }).map(
  withoutMark,
);

/** Undefined if the name is not that of a type. */
export const tokenType = (name: unknown): TokenType | undefined => types.get(name);

export const isTokenType = (name: unknown): name is string => tokenType(name) !== undefined;

type Check = readonly [isRight: (value: unknown) => boolean, must: string];
/** By name. `?` behind a name makes it optional. */
type Checks = Readonly<Record<string, Check>>;

function withoutMark(name: string): string {
  return name.replace('?', '');
}

/** An object whose named members pass. Other members may be there. */
function members(checks: Checks): (data: unknown) => Faults {
  return (data) => {
    if (!isJsonObject(data)) return { data: ['must be an object'] };
    const wrong = Object.entries(checks).flatMap(([key, [isRight, must]]) => {
      const name = withoutMark(key);
      const value = Object.hasOwn(data, name) ? data[name] : undefined;
      if (value === undefined || value === null) {
        return key === name ? [[`data.${name}`, ['is required']] as const] : [];
      }
      return isRight(value) ? [] : [[`data.${name}`, [must]] as const];
    });
    return Object.fromEntries(wrong);
  };
}

function isText(isRight: (text: string) => boolean): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && isRight(value);
}

/** Accepts a number, or a text as forms send it. */
function isMonth(value: unknown): boolean {
  if (typeof value === 'string') return /^(?:0?[1-9]|1[0-2])$/.test(value);
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 12;
}

function isYear(value: unknown): boolean {
  return (typeof value === 'string' || Number.isInteger(value)) && /^\d{4}$/.test(String(value));
}

function membersOf(data: unknown): Record<string, unknown> {
  return isJsonObject(data) ? data : {};
}
