// Chooses, searches and downloads the output of the ranks.
import { useEffect, useState } from 'preact/hooks';
import { asRequestError, getJson } from '../api/client';
import type { Job, ReadLogPageResponse } from '../api/types';
import { bytes } from '../format/numbers';
import { useQueryText } from '../router/query_text';
import { setQuery } from '../router/router';
import { download } from '../ui/download';
import { Icon } from '../ui/icon';
import type { Direction } from './error_jump';
import { isOneRank, rankList } from './log_lines';
import { searches } from './log_search';
import { filterQuery, type LogFilter } from './use_log';
import { LogTooLarge, readWholeLog } from './whole_log';

function RankField({ value }: { value: string }) {
  const [text, setText] = useState(value);
  // A link or the Back button can also change the value.
  useEffect(() => setText(value), [value]);
  const fits = rankList(text) !== undefined;
  const apply = () => fits && setQuery({ ranks: rankList(text) });
  return (
    <label class="inline-field">
      Ranks
      <input
        type="text"
        size={8}
        placeholder="all"
        value={text}
        aria-invalid={!fits}
        title="For example 0,8-15"
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={apply}
      />
    </label>
  );
}

interface SwitchProps {
  name: string;
  title: string;
  on: boolean;
  onSwitch: (on: boolean) => void;
}

function Switch({ name, title, on, onSwitch }: SwitchProps) {
  return (
    <button
      type="button"
      class="switch"
      title={title}
      aria-label={title}
      aria-pressed={on}
      onClick={() => onSwitch(!on)}
    >
      {name}
    </button>
  );
}

function SearchField({ filter }: { filter: LogFilter }) {
  const [text, setText] = useQueryText('grep');
  return (
    <div class="log-search grow">
      <input
        type="search"
        placeholder="Search all output"
        aria-label="Search all output"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Switch
        name="Aa"
        title="Match case"
        on={filter.matchCase}
        onSwitch={(on) => setQuery({ case: on ? 1 : undefined })}
      />
      <Switch
        name=".*"
        title="Regular expression (RE2)"
        on={filter.regex}
        onSwitch={(on) => setQuery({ regex: on ? 1 : undefined })}
      />
    </div>
  );
}

function LevelField({ filter }: { filter: LogFilter }) {
  return (
    <label class="inline-field">
      Level
      <select
        value={filter.level ?? ''}
        onChange={(event) => setQuery({ level: event.currentTarget.value })}
      >
        <option value="">all</option>
        <option value="warning">warnings and errors</option>
        <option value="error">errors</option>
      </select>
    </label>
  );
}

function AttemptField({ job, filter }: { job: Job; filter: LogFilter }) {
  return (
    <label class="inline-field">
      Attempt
      <select
        value={String(filter.attempt ?? '')}
        onChange={(event) => setQuery({ attempt: event.currentTarget.value })}
      >
        <option value="">all</option>
        {job.attempts.map(({ number }) => (
          <option key={number} value={number}>
            {number}
          </option>
        ))}
      </select>
    </label>
  );
}

// Downloads all lines that the filter selects.
function DownloadLog({ job, filter }: { job: Job; filter: LogFilter }) {
  const [size, setSize] = useState<number>();
  const [error, setError] = useState('');
  const read = (query: object) =>
    getJson<ReadLogPageResponse>(`/jobs/${job.id}/logs`, { ...filterQuery(filter), ...query });
  const start = async () => {
    setError('');
    setSize(0);
    try {
      const named = !isOneRank(filter.ranks);
      const parts = await readWholeLog(read, { named, onProgress: setSize });
      download(`${job.name}-${job.id}.log`, new Blob(parts, { type: 'text/plain' }));
    } catch (failure) {
      setError(
        failure instanceof LogTooLarge
          ? `the log is too large for a browser; use trainyard logs ${job.id} > ${job.id}.log`
          : asRequestError(failure).message,
      );
    } finally {
      setSize(undefined);
    }
  };
  return (
    <>
      <button
        type="button"
        disabled={size !== undefined}
        aria-busy={size !== undefined}
        onClick={() => void start()}
      >
        <Icon name="down" />
        {size ? bytes(size) : searches(filter) ? 'Matching lines' : 'Whole log'}
      </button>
      {error && (
        <span class="download-error" role="alert">
          Download failed: {error}
        </span>
      )}
    </>
  );
}

export interface LogToolsProps {
  job: Job;
  filter: LogFilter;
  // True if the view moves with new lines.
  following: boolean;
  onFollow: (on: boolean) => void;
  // Text about the last search for an error line, if it found none.
  note: string;
  onError: (direction: Direction) => void;
}

export function LogTools({ job, filter, following, onFollow, note, onError }: LogToolsProps) {
  const showEnd = (end: boolean) => {
    onFollow(end);
    setQuery({ from: end ? undefined : 'start', line: undefined });
  };
  return (
    <div class="tools">
      <SearchField filter={filter} />
      <LevelField filter={filter} />
      <RankField value={filter.ranks} />
      <AttemptField job={job} filter={filter} />
      <div class="button-pair">
        <button type="button" title="Previous error (E)" onClick={() => onError('older')}>
          Previous error
        </button>
        <button type="button" title="Next error (e)" onClick={() => onError('newer')}>
          Next error
        </button>
      </div>
      <button type="button" onClick={() => showEnd(false)}>
        First line
      </button>
      <button type="button" aria-pressed={following} onClick={() => showEnd(true)}>
        {following ? 'Following' : 'Last line'}
      </button>
      <DownloadLog job={job} filter={filter} />
      <span class="faint" role="status">
        {note}
      </span>
    </div>
  );
}
