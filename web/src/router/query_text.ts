// A text that is part of the address and changes faster than an address may: by typing, or by a key
// that is held down.
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from './router';

const PAUSE_MS = 250;

// Written to the address after a pause. A value that changes there by another hand (a link, a
// button, Back) replaces the text; one's own that arrives while more is typed does not.
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
