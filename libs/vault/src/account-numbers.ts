/** Checks the last digit of a card number: from the right, every second digit counts double. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const value = at % 2 === 0 ? digit : digit * 2;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

const abaWeights = [3, 7, 1, 3, 7, 1, 3, 7, 1];

/** Nine digits whose weighted sum is a multiple of ten. Nine zeros are no bank. */
export function isAbaRoutingNumber(text: string): boolean {
  if (!/^\d{9}$/.test(text) || text === '000000000') return false;
  const sum = abaWeights.reduce((total, weight, at) => total + weight * Number(text[at]), 0);
  return sum % 10 === 0;
}

/**
 * Replaces all but the last four digits by X; dashes stay. A text of up to four digits shows none.
 */
export function lastFour(text: string): string {
  const count = text.replace(/\D/g, '').length;
  const hidden = count > 4 ? count - 4 : count;
  let seen = 0;
  return text.replace(/\d/g, (digit) => {
    seen += 1;
    return seen > hidden ? digit : 'X';
  });
}
