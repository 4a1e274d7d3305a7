// A list of events that can be filtered and searched.
import { useCallback } from 'preact/hooks';
import type { EventText } from '../format/event_text';
import { useQueryText } from '../router/query_text';
import { query, setQuery } from '../router/router';
import { Choice } from '../ui/choice';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { EVENT_KINDS, isShown, type EventKindName } from './event_filter';
import { EventList } from './event_list';
import type { EventLine } from './fold_events';
import { subjectName } from './subject';
import { useEvents } from './use_events';

export interface EventViewProps {
  path: string;
  // Changes when there may be newer events.
  tick: unknown;
  // True for the events of one job. Such a list has no links to the job and no events of nodes.
  ofJob?: boolean;
  // Events that the stream has sent, shown if the events cannot be loaded.
  streamed?: readonly EventLine[] | undefined;
}

function useFilter() {
  const kind = EVENT_KINDS.find((name) => name === query.value.get('kind')) ?? 'all';
  const [text, setText] = useQueryText('text');
  const keep = useCallback(
    (line: EventLine) =>
      isShown(line, { kind, text: text.trim() }, (described: EventText) => subjectName(described)),
    [kind, text],
  );
  return { kind, text, setText, keep, isActive: kind !== 'all' || text.trim() !== '' };
}

interface ToolsProps {
  kinds: readonly EventKindName[];
  kind: EventKindName;
  text: string;
  setText: (text: string) => void;
  absolute: boolean;
}

function EventTools({ kinds, kind, text, setText, absolute }: ToolsProps) {
  return (
    <div class="tools">
      <input
        type="search"
        class="grow"
        placeholder="Search events"
        aria-label="Search events"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Choice
        label="Show"
        value={kind}
        choices={kinds.map((name) => [name, name])}
        onChoose={(name) => setQuery({ kind: name === 'all' ? undefined : name })}
      />
      <Choice
        label="Times"
        value={absolute ? 'absolute' : 'age'}
        choices={[
          ['age', 'age'],
          ['absolute', 'absolute'],
        ]}
        onChoose={(name) => setQuery({ times: name === 'absolute' ? name : undefined })}
      />
    </div>
  );
}

export function EventView({ path, tick, ofJob = false, streamed }: EventViewProps) {
  const { keep, isActive, ...filter } = useFilter();
  const { lines: loaded, error, loadOlder } = useEvents(path, tick, keep);
  const lines = loaded ?? (error && streamed?.filter(keep));
  const absolute = query.value.get('times') === 'absolute';
  const kinds = ofJob ? EVENT_KINDS.filter((name) => name !== 'nodes') : EVENT_KINDS;
  return (
    <>
      <EventTools {...filter} kinds={kinds} absolute={absolute} />
      {error && <Failure error={error} />}
      {!lines && !error && <Skeleton rows={10} />}
      {lines?.length === 0 && (
        <Empty title={isActive ? 'No matching events' : 'No events yet'}>
          {isActive && loadOlder && 'Load older events to search further back.'}
        </Empty>
      )}
      {lines && <EventList lines={lines} about={!ofJob} absolute={absolute} />}
      {loadOlder && (
        <button type="button" class="more" onClick={loadOlder}>
          Older events
        </button>
      )}
    </>
  );
}
