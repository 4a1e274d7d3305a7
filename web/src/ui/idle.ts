// Longest wait for an idle browser, in milliseconds.
const TIMEOUT_MS = 2_000;

// Resolves when the browser is idle. In Safari, which does not report this: after a delay.
export function idle(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve();
    if (typeof requestIdleCallback === 'function') {
      requestIdleCallback(done, { timeout: TIMEOUT_MS });
    } else {
      setTimeout(done, TIMEOUT_MS);
    }
  });
}
