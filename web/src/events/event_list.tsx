import { jobNames, live, nodeName, serverNow } from '../api/store';
import { ago, fullTime } from '../format/time';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { Icon } from '../ui/icon';
import { lineText, type EventLine } from './fold_events';

// A link to an event's job or node. data-row lets the keys j and k move to it.
function Subject({ jobId, nodeId }: { jobId?: number; nodeId?: string }) {
  if (jobId !== undefined) {
    // Neither source has some jobs, such as jobs that ended long ago.
    const name = live.value.jobs?.get(jobId)?.name ?? jobNames.value[String(jobId)] ?? 'job';
    return (
      <Link href={jobPath(jobId)} data-row>
        {name} #{jobId}
      </Link>
    );
  }
  if (nodeId !== undefined)
    return (
      <Link href={`/nodes?node=${encodeURIComponent(nodeName(nodeId))}`} data-row>
        {nodeName(nodeId)}
      </Link>
    );
  return null;
}

// `about`: begin each line with a link to its job or node. False on a job's own page.
export function EventList({
  lines,
  about = true,
}: {
  lines: readonly EventLine[];
  about?: boolean;
}) {
  return (
    <ol class="events">
      {lines.map((line) => {
        const { sequence, event } = line;
        const described = lineText(line);
        if (!event || !described) return null;
        const { text, tone, icon, ...subject } = described;
        return (
          <li key={sequence}>
            <time title={fullTime(event.time_ms)}>{ago(event.time_ms, serverNow.value)}</time>
            <span class={`event-icon tone-${tone}`}>
              <Icon name={icon} />
            </span>
            <p>
              {about && <Subject {...subject} />} {text}
              <span class="faint actor">{event.actor}</span>
            </p>
          </li>
        );
      })}
    </ol>
  );
}
