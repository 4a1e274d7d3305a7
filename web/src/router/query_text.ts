// A text that is stored in the address, but changes faster than the address may change, for example
// while the user types or holds a key down.
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from './router';

const PAUSE_MS = 250;

// Writes the text to the address after a pause. If a link, a button or Back changes the address,
// the new value replaces the text. If the change comes from the user's own typing, the text is not
// replaced, even if the user has typed more since.
export function useQueryText(name: string): [string, (text: string) => void] {
  const value = query.value.get(name) ?? '';
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
      setQuery({ [name]: text });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
