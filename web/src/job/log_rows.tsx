// Shows the lines of a log. Draws only visible lines. At most one line is open.
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clockTime, fullTime } from '../format/time';
import { useQueryText } from '../router/query_text';
import { isAtEnd, rowWindow } from '../ui/windowing';
import { setQuery } from '../router/router';
import { LineDetail } from './log_detail';
import {
  NONE_OPEN,
  isOneRank,
  lineName,
  openAfterKey,
  withoutEscapes,
  type LeveledLine,
} from './log_lines';
import { markerOf, searches, type Part } from './log_search';
import type { LogFilter, LogReader } from './use_log';

const ROW_PX = 18;

// Signs that show a level without color.
const LEVEL_SIGN = { unspecified: '', warning: 'W', error: 'E' } as const;
const LEVEL_TITLE = { unspecified: undefined, warning: 'warning', error: 'error' } as const;

function LogRow({
  line,
  mark,
  chosen,
  onChoose,
}: {
  line: LeveledLine;
  mark: (text: string) => Part[];
  chosen: boolean;
  onChoose: () => void;
}) {
  return (
    <div class={`log-row level-${line.level} ${chosen ? 'chosen' : ''}`} onClick={onChoose}>
      <span class="log-level" title={LEVEL_TITLE[line.level]}>
        {LEVEL_SIGN[line.level]}
      </span>
      <span class="log-time" title={fullTime(line.time_ms)}>
        {clockTime(line.time_ms, Date.now())}
      </span>
      <span class="log-rank" title={`attempt ${line.attempt}, rank ${line.rank}`}>
        {line.attempt}.{line.rank}
      </span>
      <span class="log-text">
        {mark(withoutEscapes(line.text)).map(([part, hit], index) =>
          hit ? <mark key={index}>{part}</mark> : part,
        )}
      </span>
    </div>
  );
}

// Keeps visible lines in place when pages are added at either end.
function useScrolling(reader: LogReader, follow: boolean, setFollow: (on: boolean) => void) {
  const view = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const amount = reader.buffer?.lines.length ?? 0;
  const look = () => {
    const element = view.current;
    if (!element) return;
    setPlace({ top: element.scrollTop, height: element.clientHeight });
    const keepPlace = (moved: number) => {
      if (moved !== 0 && view.current) view.current.scrollTop += moved * ROW_PX;
    };
    if (element.scrollTop < 40 * ROW_PX) void reader.loadOlder().then(keepPlace);
    const { scrollTop, clientHeight, scrollHeight } = element;
    const end = isAtEnd(scrollTop, clientHeight, scrollHeight, ROW_PX);
    if (end && !reader.buffer?.atEnd) void reader.loadNewer().then(keepPlace);
    if (end !== follow && amount > 0 && reader.buffer?.atEnd) setFollow(end);
  };
  useLayoutEffect(() => {
    const element = view.current;
    if (!element) return;
    if (follow) element.scrollTop = element.scrollHeight;
    setPlace({ top: element.scrollTop, height: element.clientHeight });
  }, [amount, follow]);
  return { view, place, look };
}

// Returns the index of the open line, whose full text is shown. The page's URL identifies it.
function useOpenLine(
  lines: readonly LeveledLine[],
  view: RefObject<HTMLDivElement | null>,
  look: () => void,
) {
  const [name, setName] = useQueryText('line');
  const open = useMemo(
    () => (name === '' ? NONE_OPEN : lines.findIndex((line) => lineName(line) === name)),
    [name, lines],
  );
  const setOpen = (index: number) => {
    const line = lines[index];
    setName(line ? lineName(line) : '');
  };
  // Scrolls to the line that the address identifies, unless it is visible. Afterwards look() loads
  // the lines above it.
  useLayoutEffect(() => {
    const element = view.current;
    if (!element || open < 0) return;
    const inside = open * ROW_PX - element.scrollTop;
    const isVisible = inside >= 0 && inside + ROW_PX <= element.clientHeight;
    if (!isVisible) element.scrollTop = open * ROW_PX - element.clientHeight / 3;
    look();
  }, [name]);
  const onKeyDown = (event: KeyboardEvent) => {
    const element = view.current;
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const inView = Math.ceil(element.scrollTop / ROW_PX);
    const next = openAfterKey(event.key, open, inView, lines.length);
    if (next === undefined) return;
    event.preventDefault();
    setOpen(next);
    if (next === NONE_OPEN) return;
    const top = next * ROW_PX;
    const lowest = top + 2 * ROW_PX - element.clientHeight;
    element.scrollTop = Math.max(lowest, Math.min(top - ROW_PX, element.scrollTop));
  };
  return { open, setOpen, onKeyDown };
}

interface LogRowsProps {
  jobId: number;
  reader: LogReader;
  filter: LogFilter;
  follow: boolean;
  setFollow: (on: boolean) => void;
}

// Removes the search from the address, so that all lines around the open line are shown.
function showAllAt(line: LeveledLine, reader: LogReader): void {
  const none = { grep: undefined, case: undefined, regex: undefined, level: undefined };
  setQuery({ ...none, line: lineName(line) });
  reader.goTo(line);
}

export function LogRows({ jobId, reader, filter, follow, setFollow }: LogRowsProps) {
  const { view, place, look } = useScrolling(reader, follow, setFollow);
  const lines = reader.buffer?.lines ?? [];
  const { open, setOpen, onKeyDown } = useOpenLine(lines, view, look);
  const mark = markerOf(filter);
  const chosen = lines[open];
  const showAll = () => {
    if (!chosen) return;
    setFollow(false);
    showAllAt(chosen, reader);
  };
  const shown = rowWindow(lines.length, ROW_PX, place.top, place.height);
  return (
    <>
      <div
        class="log"
        ref={view}
        onScroll={look}
        onKeyDown={onKeyDown}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Rank output. Enter opens a line; arrow keys open the next or previous line."
      >
        <div class="log-inner" style={{ height: `${lines.length * ROW_PX}px` }}>
          <div style={{ transform: `translateY(${shown.above}px)` }}>
            {lines.slice(shown.first, shown.last).map((line, index) => (
              <LogRow
                key={lineName(line)}
                line={line}
                mark={mark}
                chosen={line === chosen}
                onChoose={() => setOpen(shown.first + index)}
              />
            ))}
          </div>
        </div>
      </div>
      {chosen && (
        <LineDetail
          jobId={jobId}
          line={chosen}
          withNeighbours={searches(filter) || !isOneRank(filter.ranks)}
          onShowAll={searches(filter) ? showAll : undefined}
          onClose={() => setOpen(NONE_OPEN)}
        />
      )}
    </>
  );
}
