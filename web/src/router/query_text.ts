// A text in the URL that can change more often than the URL may change, for example while the user
// types or holds a key down.
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from './router';

const PAUSE_MS = 250;

// Writes the text to the URL after a pause. If a link, a button or Back changes the URL, the URL's
// value replaces the text. A URL change that comes from the user's own typing does not replace the
// text, because the user may have typed more since.
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
