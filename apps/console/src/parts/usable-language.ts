/**
 * uPlot makes a number format of the browser's language while it loads, and throws where that is
 * none: a system without a language of its own says `en-US@posix`.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
