// Output of the ranks: follow, search at the controller, filters; only the rows in view are drawn.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { apiPath } from '../api/client';
import { logsTick } from '../api/store';
import type { Job, LogLine } from '../api/types';
import { bytes, count } from '../format/numbers';
import { clockTime, fullTime } from '../format/time';
import { query, setQuery } from '../router/router';
import { useFieldText } from '../ui/field_text';
import { Failure, Nothing, Skeleton } from '../ui/notice';
import { isAtEnd, rowWindow } from '../ui/windowing';
import { Icon } from '../ui/icon';
import { emptyLog } from './empty_words';
import { markMatches, olderCursorOf, rankList, withoutEscapes } from './log_lines';
import { useLog, type LogFilter, type LogReader } from './use_log';

const ROW_PX = 18;

function LogRow({
  line,
  grep,
  chosen,
  onChoose,
}: {
  line: LogLine;
  grep: string;
  chosen: boolean;
  onChoose: () => void;
}) {
  return (
    <div class={`log-row ${chosen ? 'chosen' : ''}`} onClick={onChoose}>
      <span class="log-time" title={fullTime(line.time_ms)}>
        {clockTime(line.time_ms, Date.now())}
      </span>
      <span class="log-rank" title={`attempt ${line.epoch}, rank ${line.rank}`}>
        {line.epoch}.{line.rank}
      </span>
      <span class="log-text">
        {markMatches(withoutEscapes(line.text), grep).map(([part, hit], index) =>
          hit ? <mark key={index}>{part}</mark> : part,
        )}
      </span>
    </div>
  );
}

// Keeps the lines under the eye in place while pages join at either end.
function useScrolling(reader: LogReader, follow: boolean, setFollow: (on: boolean) => void) {
  const view = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const amount = reader.stretch?.lines.length ?? 0;
  const look = () => {
    const element = view.current;
    if (!element) return;
    setPlace({ top: element.scrollTop, height: element.clientHeight });
    if (element.scrollTop < 40 * ROW_PX) {
      void reader.loadOlder().then((moved) => {
        if (moved > 0 && view.current) view.current.scrollTop += moved * ROW_PX;
      });
    }
    const { scrollTop, clientHeight, scrollHeight } = element;
    const end = isAtEnd(scrollTop, clientHeight, scrollHeight, ROW_PX);
    if (end && !reader.stretch?.atEnd) void reader.loadNewer();
    if (end !== follow && amount > 0 && reader.stretch?.atEnd) setFollow(end);
  };
  useLayoutEffect(() => {
    const element = view.current;
    if (!element) return;
    if (follow) element.scrollTop = element.scrollHeight;
    setPlace({ top: element.scrollTop, height: element.clientHeight });
  }, [amount, follow]);
  return { view, place, look };
}

function LogRows({
  reader,
  grep,
  follow,
  setFollow,
}: {
  reader: LogReader;
  grep: string;
  follow: boolean;
  setFollow: (on: boolean) => void;
}) {
  const { view, place, look } = useScrolling(reader, follow, setFollow);
  const [chosen, setChosen] = useState<LogLine>();
  const lines = reader.stretch?.lines ?? [];
  const shown = rowWindow(lines.length, ROW_PX, place.top, place.height);
  return (
    <>
      <div
        class="log"
        ref={view}
        onScroll={look}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Output of the ranks"
      >
        <div class="log-inner" style={{ height: `${lines.length * ROW_PX}px` }}>
          <div style={{ transform: `translateY(${shown.above}px)` }}>
            {lines.slice(shown.first, shown.last).map((line) => (
              <LogRow
                key={`${line.epoch}.${line.rank}.${line.offset}`}
                line={line}
                grep={grep}
                chosen={line === chosen}
                onChoose={() => setChosen(line)}
              />
            ))}
          </div>
        </div>
      </div>
      {chosen && (
        <div class="log-detail">
          <p class="faint">
            attempt {chosen.epoch} · rank {chosen.rank} · byte {count(chosen.offset)} ·{' '}
            {fullTime(chosen.time_ms)}
          </p>
          <pre tabIndex={0}>{withoutEscapes(chosen.text)}</pre>
        </div>
      )}
    </>
  );
}

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
  // It changes by a link or by Back, too.
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
        title="Such as 0,8-15"
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={apply}
      />
    </label>
  );
}

function GrepField({ value }: { value: string }) {
  const [text, setText] = useFieldText(value, (grep) => setQuery({ grep }));
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
  // Nothing can follow any more.
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
      <GrepField value={filter.grep} />
      <RankField value={filter.ranks} />
      <label class="inline-field">
        Attempt
        <select
          value={String(filter.attempt ?? '')}
          onChange={(event) => setQuery({ attempt: event.currentTarget.value })}
        >
          <option value="">all</option>
          {job.attempts.map(({ epoch }) => (
            <option key={epoch} value={epoch}>
              {epoch}
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
      <a class="button" href={text} download={`${job.name}-${job.id}.log`}>
        <Icon name="down" />
        Last 5,000 lines
      </a>
    </div>
  );
}

export function Logs({ job }: { job: Job }) {
  const filter = useLogFilter();
  const [follow, setFollow] = useState(!filter.fromStart);
  const reader = useLog(job.id, filter);
  const { stretch } = reader;
  // Asks again when the controller says that there is more, and page by page until the end.
  const behind = stretch !== undefined && !stretch.atEnd && stretch.newerCursor;
  useEffect(() => {
    if (follow && stretch) void reader.loadNewer();
  }, [logsTick.value, follow, behind, stretch === undefined]);
  return (
    <div class="logs">
      <LogTools
        job={job}
        filter={filter}
        follow={follow}
        complete={stretch?.complete ?? false}
        onFollow={setFollow}
      />
      {reader.error && <Failure error={reader.error} />}
      {!stretch && !reader.error && <Skeleton rows={12} height={14} />}
      {stretch?.lines.length === 0 && (
        <Nothing words={emptyLog(filter, stretch.complete)} />
      )}
      {stretch && stretch.lines.length > 0 && (
        <>
          <LogRows reader={reader} grep={filter.grep} follow={follow} setFollow={setFollow} />
          <p class="density">
            {count(stretch.lines.length)} lines here
            {olderCursorOf(stretch) ? ', older ones above' : ''}
            {stretch.complete ? ', the output is complete' : ''} · about{' '}
            {bytes(stretch.lines.reduce((sum, line) => sum + line.text.length, 0))}
          </p>
        </>
      )}
    </div>
  );
}
