// Selects jobs in the list, and offers the actions on the selected ones.
import { useEffect, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, type RequestError } from '../api/client';
import { capabilities, live, stale } from '../api/store';
import type { Job, ListJobsResponse } from '../api/types';
import { count } from '../format/numbers';
import { navigate } from '../router/router';
import { Failure } from '../ui/notice';
import { BULK_ACTIONS, type BulkAction } from './bulk_actions';
import { BulkDialog } from './bulk_dialog';
import { joined, type JobFilter } from './job_pages';
import {
  afterClick,
  allOf,
  NOTHING,
  SELECTED_MAX,
  withoutDeleted,
  type Selection,
} from './selection';
import { queryOf } from './use_jobs';

export interface SelectionTools {
  selection: Selection;
  error: RequestError | undefined;
  click: (job: Job, range: boolean) => void;
  selectAll: () => void;
  clear: () => void;
}

// `rows`: the shown jobs. `total`: the number of all matching jobs. `rows` may have only the first
// of them.
export function useSelection(
  filter: JobFilter,
  rows: readonly Job[] | undefined,
  total: number,
): SelectionTools {
  const [held, setHeld] = useState(NOTHING);
  const [error, setError] = useState<RequestError>();
  const selection = withoutDeleted(held, live.value.deleted);
  const key = JSON.stringify(queryOf({ ...filter, order: 'newest', reverse: false }));
  const asked = useRef<AbortController>(undefined);
  // Every choice ends a request for all jobs, so that its response does not replace the choice.
  const select = (next: Selection) => {
    asked.current?.abort();
    setError(undefined);
    setHeld(next);
  };
  // A change of the filter clears the selection, so that no action applies to a hidden
  // job.
  useEffect(() => {
    select(NOTHING);
    return () => asked.current?.abort();
  }, [key]);
  const selectAll = async () => {
    const shown = rows ?? [];
    if (shown.length >= Math.min(total, SELECTED_MAX)) return select(allOf(shown));
    select(NOTHING);
    const { signal } = (asked.current = new AbortController());
    try {
      const query = { ...queryOf(filter), limit: SELECTED_MAX };
      const { jobs } = await getJson<ListJobsResponse>('/jobs', query, signal);
      // The shown rows come first, because these rows begin with the sick jobs.
      if (!signal.aborted) select(allOf(joined(shown, jobs)));
    } catch (failure) {
      if (!signal.aborted) setError(asRequestError(failure));
    }
  };
  return {
    selection,
    error,
    click: (job, range) => select(afterClick(selection, job, rows ?? [], range)),
    selectAll: () => void selectAll(),
    clear: () => select(NOTHING),
  };
}

export function SelectAllBox({ tools, total }: { tools: SelectionTools; total: number }) {
  const box = useRef<HTMLInputElement>(null);
  const { size } = tools.selection.jobs;
  const all = size > 0 && size >= Math.min(total, SELECTED_MAX);
  useEffect(() => {
    if (box.current) box.current.indeterminate = size > 0 && !all;
  });
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label="Select all matching jobs"
      title={`Select all matching jobs, at most ${SELECTED_MAX}`}
      checked={all}
      onChange={() => (size > 0 ? tools.clear() : tools.selectAll())}
    />
  );
}

export function SelectBox({ job, tools }: { job: Job; tools: SelectionTools }) {
  return (
    <input
      type="checkbox"
      aria-label={`Select ${job.name} #${job.id}`}
      title="Shift selects all rows from the last one"
      checked={tools.selection.jobs.has(job.id)}
      onClick={(event) => tools.click(job, event.shiftKey)}
    />
  );
}

const WORDS: Record<BulkAction, string> = {
  pause: 'Pause…',
  resume: 'Resume…',
  stop: 'Stop…',
  kill: 'Kill…',
};

// The number of selected jobs, and what can be done with them.
export function SelectedTools({ tools, total }: { tools: SelectionTools; total: number }) {
  const [action, setAction] = useState<BulkAction>();
  const jobs = [...tools.selection.jobs.values()];
  if (jobs.length === 0) return tools.error ? <Failure error={tools.error} /> : null;
  const isFull = jobs.length === SELECTED_MAX && total > SELECTED_MAX;
  const canAct = !stale.value && capabilities.value.includes('stop');
  return (
    <div class="selected" role="group" aria-label="Selected jobs">
      <span aria-live="polite">
        {count(jobs.length)} selected
        {isFull && <span class="faint"> of {count(total)}, the most at once</span>}
      </span>
      {BULK_ACTIONS.map((name) => (
        <button key={name} type="button" disabled={!canAct} onClick={() => setAction(name)}>
          {WORDS[name]}
        </button>
      ))}
      <button
        type="button"
        onClick={() => navigate(`/compare?jobs=${jobs.map(({ id }) => id).join(',')}`)}
      >
        Compare
      </button>
      <button type="button" class="quiet" onClick={tools.clear}>
        Clear
      </button>
      {action && (
        <BulkDialog action={action} jobs={jobs} onClose={() => setAction(undefined)} />
      )}
    </div>
  );
}
