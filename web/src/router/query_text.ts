// A text in the address whose value changes faster than the address may, such as by typing or a
// repeated key.
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from './router';

const PAUSE_MS = 250;

// The text is written to the address after a pause. If a link, a button or Back changes the
// address, the new value replaces the text. A change caused by the user's typing does not, even if
// it arrives while the user types on.
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
