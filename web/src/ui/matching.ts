// Returns the entries that contain every word of `text`. Entries that begin with `text` come first.
// Pure.
export function matching<T>(
  entries: readonly T[],
  textOf: (entry: T) => string,
  text: string,
): T[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter((word) => word !== '');
  const found = entries.filter((entry) => {
    const held = textOf(entry).toLowerCase();
    return words.every((word) => held.includes(word));
  });
  const begins = (entry: T) => textOf(entry).toLowerCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((entry) => !begins(entry))];
}
