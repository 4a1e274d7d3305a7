// The tools of the list of jobs that choose a saved view and the columns.
import { useEffect, useState } from 'preact/hooks';
import { navigate, query, setQuery } from '../router/router';
import { CheckMenu } from '../ui/check_menu';
import { COLUMNS, columnsIn, columnsText, withColumn, type ColumnName } from './column_choice';
import { followViews, storeViews, storedViews, viewOf, type SavedView } from './saved_views';
import { ViewsDialog } from './views_dialog';

// The value of the option for a view that is not saved. No query begins with this character.
const UNSAVED = '!';

function useViews() {
  const [views, setViews] = useState(storedViews);
  const [isStored, setStored] = useState(true);
  useEffect(() => followViews(() => setViews(storedViews())), []);
  const change = (next: SavedView[]) => {
    setViews(next);
    setStored(storeViews(next));
  };
  return { views, isStored, change };
}

function ViewSelect({ views, current }: { views: readonly SavedView[]; current: string }) {
  const isSaved = current === '' || views.some((view) => view.query === current);
  return (
    <select
      aria-label="View"
      value={isSaved ? current : UNSAVED}
      onChange={(event) => navigate(`/jobs${event.currentTarget.value}`)}
    >
      {!isSaved && (
        <option value={UNSAVED} disabled>
          Unsaved view
        </option>
      )}
      {!views.some((view) => view.query === '') && <option value="">All jobs</option>}
      {views.map((view) => (
        <option key={view.name} value={view.query}>
          {view.name}
        </option>
      ))}
    </select>
  );
}

export function ViewTools() {
  const { views, isStored, change } = useViews();
  const [open, setOpen] = useState(false);
  const current = viewOf(query.value);
  return (
    <div class="button-pair">
      {views.length > 0 && <ViewSelect views={views} current={current} />}
      <button type="button" onClick={() => setOpen(true)}>
        {views.length > 0 ? 'Views…' : 'Save view…'}
      </button>
      {open && (
        <ViewsDialog
          views={views}
          query={current}
          isStored={isStored}
          onViews={change}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

// Chooses the columns.
export function ColumnTools() {
  const chosen = columnsIn(query.value);
  const toggle = (name: ColumnName) =>
    setQuery({ columns: columnsText(withColumn(chosen, name, !chosen.includes(name))) });
  return (
    <CheckMenu
      title="Columns"
      options={COLUMNS}
      chosen={chosen}
      onToggle={toggle}
      counted={false}
      atEnd
    />
  );
}
