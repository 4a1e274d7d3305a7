import { jobNames, live, nodeName, serverNow } from '../api/store';
import { ago, fullTime } from '../format/time';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { Icon } from '../ui/icon';
import { lineText, type EventLine } from './fold_events';

function Subject({ jobId, nodeId }: { jobId?: number; nodeId?: string }) {
  if (jobId !== undefined) {
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

// `about` off: every event is of the same job, so its name is not repeated.
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
        const told = lineText(line);
        if (!event || !told) return null;
        const { text, tone, icon, ...subject } = told;
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
