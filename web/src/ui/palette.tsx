// The dialog that Ctrl-K opens. The dialog finds jobs, nodes, pages and actions by a few letters.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { getJson } from '../api/client';
import { capabilities, jobList, nodeList, openJob, stale } from '../api/store';
import type { Job, ListJobsResponse } from '../api/types';
import { navigate, place } from '../router/router';
import { askedAction, jobSubject } from './asked_action';
import { JobBadge, NodeBadge } from './badge';
import { Dialog } from './dialog';
import { entriesFor, jobEntry, type Entry } from './palette_entries';

const SHOWN = 12;
const SEARCH_DELAY_MS = 120;

// Finds jobs that are no longer in the stream. The request is sent when the user pauses typing.
function useFound(text: string): Job[] {
  const [found, setFound] = useState<Job[]>([]);
  useEffect(() => {
    if (text.trim() === '') {
      setFound([]);
      return undefined;
    }
    const abort = new AbortController();
    // Ignores an aborted request, because the response for an earlier text may arrive after the
    // response for the current text.
    const take = (jobs: Job[]) => !abort.signal.aborted && setFound(jobs);
    const timer = setTimeout(() => {
      const asked = { text: text.trim(), limit: SHOWN };
      getJson<ListJobsResponse>('/jobs', asked, abort.signal).then(
        (answer) => take(answer.jobs),
        () => take([]),
      );
    }, SEARCH_DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return found;
}

// Returns the subject of the open page's actions; undefined if the page is not that of a job.
function openSubject(): string | undefined {
  const id = place.value.page === 'job' ? openJob.value?.job?.id : undefined;
  return id === undefined ? undefined : jobSubject(id);
}

// Returns the entries for the text. Jobs that the controller found follow those of the stream.
function shownEntries(text: string, found: readonly Job[]): Entry[] {
  const jobs = jobList.value ?? [];
  const at = place.value;
  const known = {
    jobs,
    nodes: nodeList.value ?? [],
    openJob: at.page === 'job' ? openJob.value?.job?.id : undefined,
    canAct: !stale.value && capabilities.value.includes('stop'),
  };
  const ids = new Set(jobs.map(({ id }) => id));
  const others = found.filter(({ id }) => !ids.has(id)).map(jobEntry);
  const local = entriesFor(text, known);
  const isDerived = ({ kind }: Entry) => kind === 'action' || kind === 'view';
  // Actions and views come last, because their large number must not hide a found job.
  const direct = local.filter((entry) => !isDerived(entry));
  return [...direct, ...others, ...local.filter(isDerived)].slice(0, SHOWN);
}

function EntryEnd({ entry: { kind, job, node } }: { entry: Entry }) {
  if (job) return <JobBadge state={job.state} />;
  if (node) return <NodeBadge node={node} />;
  return <span class="faint">{kind}</span>;
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const entries = shownEntries(text, useFound(text));
  useLayoutEffect(() => field.current?.focus(), []);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    if (entry.asks) askedAction.value = entry.asks;
    // An action on the open job leaves the view as it is.
    const isThere = entry.asks !== undefined && entry.asks.subject === openSubject();
    if (!isThere) navigate(entry.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      setChosen((chosen + by + entries.length) % Math.max(1, entries.length));
    }
    if (event.key === 'Enter') open(entries[chosen]);
    if (event.key === 'Escape') {
      // Without this call, the key only clears the search field.
      event.preventDefault();
      onClose();
    }
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        ref={field}
        type="search"
        placeholder="Job, node, page or action"
        role="combobox"
        list={undefined}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-label="Job, node, page or action"
        aria-activedescendant={`palette-${chosen}`}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="palette-list" id="palette-list" role="listbox" aria-label="Matches">
        {entries.map((entry, index) => (
          <li
            key={`${entry.href} ${entry.text}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(entry)}
          >
            <span>{entry.text}</span>
            <EntryEnd entry={entry} />
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="faint">No matches for “{text}”.</p>}
    </Dialog>
  );
}
