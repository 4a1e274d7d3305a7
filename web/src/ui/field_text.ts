// The text of a search field whose value is part of the address.
import { useEffect, useRef, useState } from 'preact/hooks';

const PAUSE_MS = 250;

// Calls `apply` after a pause in the typing. A value that changes by another hand (a link, a button,
// Back) replaces the text; one's own that arrives while more is typed does not.
export function useFieldText(
  value: string,
  apply: (text: string) => void,
): [string, (text: string) => void] {
  const [text, setText] = useState(value);
  const applied = useRef(value);
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === applied.current) return undefined;
    const timer = setTimeout(() => {
      applied.current = text;
      apply(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
