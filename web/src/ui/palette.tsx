// The dialog opened by Ctrl-K, which finds jobs and pages by a few letters.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { getJson } from '../api/client';
import { jobList } from '../api/store';
import type { Job, ListJobsResponse } from '../api/types';
import { navigate } from '../router/router';
import { jobPath } from '../router/url';
import { Dialog } from './dialog';
import { matching } from './matching';
import { JobBadge } from './badge';

interface Entry {
  text: string;
  href: string;
  job?: Job;
}

const PAGES: Entry[] = [
  { text: 'Overview', href: '/' },
  { text: 'Jobs', href: '/jobs' },
  { text: 'Queue', href: '/queue' },
  { text: 'Nodes', href: '/nodes' },
  { text: 'Compare', href: '/compare' },
  { text: 'Planner', href: '/planner' },
  { text: 'Events', href: '/events' },
];
const SHOWN = 12;
const SEARCH_DELAY_MS = 120;

const jobEntry = (job: Job): Entry => ({
  text: `${job.name} #${job.id}`,
  href: jobPath(job.id),
  job,
});

// Finds jobs that the stream no longer contains, by a request when the user pauses typing.
function useFound(text: string): Job[] {
  const [found, setFound] = useState<Job[]>([]);
  useEffect(() => {
    if (text.trim() === '') {
      setFound([]);
      return undefined;
    }
    const abort = new AbortController();
    // Ignores an aborted request, because the response for an earlier text may arrive after the one
    // for the current text.
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

function entriesFor(text: string, found: readonly Job[]): Entry[] {
  const held = jobList.value ?? [];
  const known = new Set(held.map(({ id }) => id));
  const others = found.filter(({ id }) => !known.has(id));
  const local = matching([...PAGES, ...held.map(jobEntry)], (entry) => entry.text, text);
  return [...local, ...others.map(jobEntry)].slice(0, SHOWN);
}

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const entries = entriesFor(text, useFound(text));
  useLayoutEffect(() => field.current?.focus(), []);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    navigate(entry.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      setChosen((chosen + by + entries.length) % Math.max(1, entries.length));
    }
    if (event.key === 'Enter') open(entries[chosen]);
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        ref={field}
        type="search"
        placeholder="Job name, number or page"
        role="combobox"
        list={undefined}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-label="Job or page"
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
            key={entry.href}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(entry)}
          >
            <span>{entry.text}</span>
            {entry.job ? (
              <JobBadge state={entry.job.state} verdict={entry.job.verdict} />
            ) : (
              <span class="faint">page</span>
            )}
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="faint">No matches for “{text}”.</p>}
    </Dialog>
  );
}
