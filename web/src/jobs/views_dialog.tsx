// Saves the current view of the list of jobs under a name; renames and deletes saved views.
import { useState } from 'preact/hooks';
import { navigate } from '../router/router';
import { Dialog } from '../ui/dialog';
import {
  NAME_CHARS_MAX,
  nameProblem,
  renamed,
  roomProblem,
  withView,
  withoutView,
  type SavedView,
} from './saved_views';

interface NameFormProps {
  label: string;
  button: string;
  value: string;
  // Why a view cannot have this name; undefined if the name is allowed.
  problemOf: (name: string) => string | undefined;
  onName: (name: string) => void;
}

function NameForm({ label, button, value, problemOf, onName }: NameFormProps) {
  const [name, setName] = useState(value);
  const [tried, setTried] = useState(false);
  const problem = problemOf(name);
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (problem) return;
    onName(name);
    setName('');
    setTried(false);
  };
  return (
    <form class="view-form" onSubmit={submit}>
      <label class="field">
        {label}
        <input
          type="text"
          value={name}
          maxLength={NAME_CHARS_MAX}
          autocomplete="off"
          aria-invalid={tried && problem !== undefined}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        {button}
      </button>
      {tried && problem && (
        <p class="tone-bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

interface RowProps {
  view: SavedView;
  onOpen: () => void;
  onRename: () => void;
  onDelete: () => void;
}

function ViewRow({ view: { name }, onOpen, onRename, onDelete }: RowProps) {
  return (
    <>
      <button type="button" class="view-open" onClick={onOpen}>
        {name}
      </button>
      <button type="button" aria-label={`Rename ${name}`} onClick={onRename}>
        Rename
      </button>
      <button type="button" aria-label={`Delete ${name}`} onClick={onDelete}>
        Delete
      </button>
    </>
  );
}

export interface ViewsDialogProps {
  views: readonly SavedView[];
  // The current view.
  query: string;
  // False if the browser refused to store the views.
  isStored: boolean;
  onViews: (views: SavedView[]) => void;
  onClose: () => void;
}

export function ViewsDialog({ views, query, isStored, onViews, onClose }: ViewsDialogProps) {
  const [editing, setEditing] = useState<string>();
  const known = views.find((view) => view.query === query);
  const open = (view: SavedView) => {
    navigate(`/jobs${view.query}`);
    onClose();
  };
  return (
    <Dialog title="Saved views" onClose={onClose}>
      <p class="faint">
        A view is the search, the states, the sort order and the columns. Views are stored in this
        browser. To share a view, copy its address.
      </p>
      {!isStored && (
        <p class="tone-bad" role="alert">
          This browser does not store the views. They last until the page is closed.
        </p>
      )}
      {known ? (
        <p>The current view is saved as “{known.name}”.</p>
      ) : (
        <NameForm
          label="Name of the current view"
          button="Save view"
          value=""
          problemOf={(name) => nameProblem(views, name) ?? roomProblem(views, query)}
          onName={(name) => onViews(withView(views, name, query))}
        />
      )}
      <ul class="view-list" aria-label="Saved views">
        {views.map((view) => (
          <li key={view.name}>
            {editing === view.name ? (
              <NameForm
                label={`New name of ${view.name}`}
                button="Rename"
                value={view.name}
                problemOf={(name) => nameProblem(views, name, view.name)}
                onName={(name) => {
                  onViews(renamed(views, view.name, name));
                  setEditing(undefined);
                }}
              />
            ) : (
              <ViewRow
                view={view}
                onOpen={() => open(view)}
                onRename={() => setEditing(view.name)}
                onDelete={() => onViews(withoutView(views, view.name))}
              />
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
