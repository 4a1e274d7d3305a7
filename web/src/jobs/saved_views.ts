// Saved views of the list of jobs: a name for a filter, a sort order and columns. The views are
// kept in the browser's storage of this origin.
import { changeQuery, formatQuery } from '../router/url';

export interface SavedView {
  name: string;
  // The query of the list's URL, such as "?sort=loss"; empty for the default view.
  query: string;
}

export const VIEWS_MAX = 20;
export const NAME_CHARS_MAX = 40;
const QUERY_CHARS_MAX = 1_000;
const KEY = 'trainyard-job-views';

// The parameters that a view consists of.
const PARAMETERS = ['q', 'states', 'sort', 'reverse', 'columns'];

// Returns the part of a query that belongs to a view, in the form in which views are compared.
export function viewOf(query: URLSearchParams): string {
  const changes = Object.fromEntries(
    PARAMETERS.map((name) => [name, query.get(name) ?? undefined] as const),
  );
  return formatQuery(changeQuery(new URLSearchParams(), changes));
}

const cleanName = (name: string) => name.trim().replaceAll(/\s+/g, ' ').slice(0, NAME_CHARS_MAX);

function isView(value: unknown): value is SavedView {
  const { name, query } = (value ?? {}) as Partial<SavedView>;
  return typeof name === 'string' && typeof query === 'string' && cleanName(name) !== '';
}

// Reads stored text, which another version or the user may have written.
export function parsedViews(text: string | null): SavedView[] {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(stored)) return [];
  const views = stored
    .filter(isView)
    .filter(({ query }) => query.length <= QUERY_CHARS_MAX)
    .map(({ name, query }) => ({
      name: cleanName(name),
      query: viewOf(new URLSearchParams(query)),
    }));
  const isFirst = ({ name }: SavedView, at: number) =>
    views.findIndex((other) => other.name === name) === at;
  return views.filter(isFirst).slice(0, VIEWS_MAX);
}

// Returns why a view cannot have this name; undefined if allowed. `except`: the view's old name.
export function nameProblem(
  views: readonly SavedView[],
  name: string,
  except?: string,
): string | undefined {
  const clean = cleanName(name);
  if (clean === '') return 'Enter a name.';
  const taken = views.some((view) => view.name === clean && view.name !== except);
  return taken ? `A view named “${clean}” exists. Choose another name.` : undefined;
}

// Returns why no view can be added; undefined if a view can be added.
export function roomProblem(views: readonly SavedView[], query: string): string | undefined {
  if (views.length >= VIEWS_MAX) return `At most ${VIEWS_MAX} views. Delete one to save another.`;
  return query.length > QUERY_CHARS_MAX ? 'The search is too long to be saved.' : undefined;
}

export const withView = (views: readonly SavedView[], name: string, query: string): SavedView[] =>
  [...views, { name: cleanName(name), query }].sort((a, b) => a.name.localeCompare(b.name));

export const renamed = (views: readonly SavedView[], from: string, to: string): SavedView[] =>
  views
    .map((view) => (view.name === from ? { ...view, name: cleanName(to) } : view))
    .sort((a, b) => a.name.localeCompare(b.name));

export const withoutView = (views: readonly SavedView[], name: string): SavedView[] =>
  views.filter((view) => view.name !== name);

export function storedViews(): SavedView[] {
  try {
    return parsedViews(localStorage.getItem(KEY));
  } catch {
    // The browser refuses storage, so views last only as long as the page.
    return [];
  }
}

// Returns false if the browser refuses to store the views.
export function storeViews(views: readonly SavedView[]): boolean {
  try {
    localStorage.setItem(KEY, JSON.stringify(views));
    return true;
  } catch {
    return false;
  }
}

// Calls `read` when another tab changes the views. Returns a function that stops the calls.
export function followViews(read: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key === null || key === KEY) read();
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}
