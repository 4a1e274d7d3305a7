import { useEffect, useRef, useState } from 'preact/hooks';

// Returns the value, updated at most once per `intervalMs`. The last value is never lost.
export function useThrottled<T>(value: T, intervalMs: number): T {
  const [passed, setPassed] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    if (value === passed) return undefined;
    const wait = Math.max(0, last.current + intervalMs - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      setPassed(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value, passed, intervalMs]);
  return passed;
}
