// A list of events, newest first. Related lines form one entry, which can be expanded.
import { useMemo, useState } from 'preact/hooks';
import { serverNow } from '../api/store';
import { plural } from '../format/numbers';
import { ago, clockTime, fullTime } from '../format/time';
import { Icon } from '../ui/icon';
import { lineText, type EventLine } from './fold_events';
import { groupLines, type EventItem } from './group_lines';
import { Subject } from './subject';

interface ListLook {
  // True if each entry begins with a link to its job or node. False on a job's own page.
  about?: boolean;
  // True to show the time of day instead of the age.
  absolute?: boolean;
}

function timeText(timeMs: number, absolute: boolean | undefined): string {
  return absolute ? clockTime(timeMs, serverNow.value) : ago(timeMs, serverNow.value);
}

// The lines of a group are drawn only while they are open, because a group may have hundreds.
function Parts({ parts, absolute }: { parts: readonly EventLine[] } & ListLook) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{plural(parts.length, 'event')}</summary>
      {open && (
        <ol class="events">
          {parts.map((part) => {
            const described = lineText(part);
            return (
              described && (
                <Entry
                  key={part.sequence}
                  item={{ newest: part, described, parts: [] }}
                  about={described.nodeId !== undefined}
                  absolute={absolute}
                />
              )
            );
          })}
        </ol>
      )}
    </details>
  );
}

function Entry({ item, about, absolute }: { item: EventItem } & ListLook) {
  const { newest, described, parts } = item;
  const { event } = newest;
  if (!event) return null;
  const { text, tone, icon, ...subject } = described;
  return (
    <li>
      <time title={fullTime(event.time_ms)}>{timeText(event.time_ms, absolute)}</time>
      <span class={`event-icon tone-${tone}`}>
        <Icon name={icon} />
      </span>
      <div class="event-text">
        {about && <Subject {...subject} />} {text}
        {parts.length === 0 && <span class="faint actor">{event.actor}</span>}
        {parts.length > 0 && <Parts parts={parts} absolute={absolute} />}
      </div>
    </li>
  );
}

interface EventListProps extends ListLook {
  lines: readonly EventLine[];
  // Maximum number of entries.
  limit?: number;
}

export function EventList({ lines, about = true, absolute = false, limit }: EventListProps) {
  const items = useMemo(() => groupLines(lines).slice(0, limit), [lines, limit]);
  return (
    <ol class={absolute ? 'events absolute' : 'events'}>
      {items.map((item) => (
        <Entry key={item.newest.sequence} item={item} about={about} absolute={absolute} />
      ))}
    </ol>
  );
}
