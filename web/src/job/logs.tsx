// Shows the output of the ranks. The user can follow, filter and search it; the controller does the
// search.
import { useEffect, useState } from 'preact/hooks';
import { apiPath } from '../api/client';
import { logsTick } from '../api/store';
import type { Job } from '../api/types';
import { bytes, count } from '../format/numbers';
import { useQueryText } from '../router/query_text';
import { query, setQuery } from '../router/router';
import { Download } from '../ui/download';
import { Failure, EmptyState, Skeleton } from '../ui/notice';
import { emptyLog } from './empty_text';
import { olderCursorOf, parseLineName, rankList } from './log_lines';
import { LogRows } from './log_rows';
import { useLog, type LogFilter } from './use_log';

function useLogFilter(): LogFilter {
  const at = query.value;
  return {
    ranks: rankList(at.get('ranks') ?? '') ?? '',
    attempt: Number(at.get('attempt')) || undefined,
    grep: at.get('grep') ?? '',
    fromStart: at.get('from') === 'start',
  };
}

function RankField({ value }: { value: string }) {
  const [text, setText] = useState(value);
  // A link or the Back button also changes the value.
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

function GrepField() {
  const [text, setText] = useQueryText('grep');
  return (
    <input
      type="search"
      class="grow"
      placeholder="Search all output"
      aria-label="Search all output"
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

function LogTools({
  job,
  filter,
  follow,
  complete,
  onFollow,
}: {
  job: Job;
  filter: LogFilter;
  follow: boolean;
  // True if no more lines will follow.
  complete: boolean;
  onFollow: (on: boolean) => void;
}) {
  const text = apiPath(`/jobs/${job.id}/logs`, {
    ranks: filter.ranks,
    attempt: filter.attempt,
    grep: filter.grep,
    limit: 5000,
    format: 'text',
  });
  return (
    <div class="tools">
      <GrepField />
      <RankField value={filter.ranks} />
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
      <button
        type="button"
        onClick={() => {
          onFollow(false);
          setQuery({ from: 'start' });
        }}
      >
        First line
      </button>
      <button
        type="button"
        aria-pressed={follow && !complete}
        onClick={() => {
          onFollow(true);
          setQuery({ from: undefined });
        }}
      >
        {follow && !complete ? 'Following' : 'Last line'}
      </button>
      <Download address={text} name={`${job.name}-${job.id}.log`}>
        Last 5,000 lines
      </Download>
    </div>
  );
}

export function Logs({ job }: { job: Job }) {
  const filter = useLogFilter();
  const line = parseLineName(query.value.get('line') ?? '');
  const [follow, setFollow] = useState(!filter.fromStart && !line);
  const reader = useLog(job.id, filter, line);
  const { buffer } = reader;
  // Loads pages up to the end of the output, and continues when the controller reports new lines.
  const behind = buffer !== undefined && !buffer.atEnd && buffer.newerCursor;
  useEffect(() => {
    if (follow && buffer) void reader.loadNewer();
  }, [logsTick.value, follow, behind, buffer === undefined]);
  return (
    <div class="logs">
      <LogTools
        job={job}
        filter={filter}
        follow={follow}
        complete={buffer?.complete ?? false}
        onFollow={(on) => {
          setFollow(on);
          // The filter has not changed, so it does not restart the reader. A restart is needed
          // because the requested end of the output may have been dropped.
          if (filter.fromStart !== on && !(on && buffer?.atEnd)) reader.restart();
        }}
      />
      {reader.error && <Failure error={reader.error} />}
      {!buffer && !reader.error && <Skeleton rows={12} height={14} />}
      {buffer?.lines.length === 0 && (
        <EmptyState words={emptyLog(filter, buffer.complete)} />
      )}
      {buffer && buffer.lines.length > 0 && (
        <>
          <LogRows reader={reader} grep={filter.grep} follow={follow} setFollow={setFollow} />
          <p class="density">
            {count(buffer.lines.length)} lines loaded
            {olderCursorOf(buffer) ? ', older lines above' : ''}
            {buffer.complete ? ', output complete' : ''} · about{' '}
            {bytes(buffer.lines.reduce((sum, line) => sum + line.text.length, 0))}
          </p>
        </>
      )}
    </div>
  );
}
