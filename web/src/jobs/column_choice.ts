// The choice of columns of the list of jobs, as stored in the URL. Pure functions.

// In the order of the table. The number, the name and the state are always shown.
export const COLUMNS = [
  ['step', 'Step'],
  ['loss', 'Loss'],
  ['best', 'Best loss'],
  ['curve', 'Curve'],
  ['rate', 'Tokens/s'],
  ['eta', 'Time left'],
  ['slots', 'Slots'],
  ['restarts', 'Restarts'],
  ['user', 'User'],
  ['submitted', 'Submitted'],
  ['duration', 'Duration'],
] as const;

export type ColumnName = (typeof COLUMNS)[number][0];

const ALL: readonly ColumnName[] = COLUMNS.map(([name]) => name);
// Leaves room for the name and, below it, the reason why a job is sick.
export const USUAL: readonly ColumnName[] = ALL.filter(
  (name) => name !== 'user' && name !== 'duration',
);
// The URL's word for no columns, because an empty parameter means the usual columns.
const NONE = 'none';

// Reads the chosen columns from a URL's query. Unknown names are ignored; without a choice, the
// usual columns are shown.
export function columnsIn(query: URLSearchParams): readonly ColumnName[] {
  const text = query.get('columns');
  if (!text) return USUAL;
  const words = text.split(',');
  const known = ALL.filter((name) => words.includes(name));
  return known.length > 0 || words.includes(NONE) ? known : USUAL;
}

// The inverse of columnsIn.
export function columnsText(chosen: readonly ColumnName[]): string | undefined {
  const text = ALL.filter((name) => chosen.includes(name)).join(',');
  return text === USUAL.join(',') ? undefined : text || NONE;
}

export function withColumn(
  chosen: readonly ColumnName[],
  name: ColumnName,
  shown: boolean,
): readonly ColumnName[] {
  return ALL.filter((one) => (one === name ? shown : chosen.includes(one)));
}
