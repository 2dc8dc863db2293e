/** Chromium under the POSIX locale reports a language that Intl refuses, and uPlot throws as it loads. */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
