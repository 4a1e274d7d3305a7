// The job or node of an event.
import { jobNames, live, nodeName } from '../api/store';
import type { EventText } from '../format/event_text';
import { Link } from '../router/router';
import { jobPath } from '../router/url';

export type SubjectOf = Pick<EventText, 'jobId' | 'nodeId'>;

export function subjectName({ jobId, nodeId }: SubjectOf): string {
  if (jobId === undefined) return nodeId === undefined ? '' : nodeName(nodeId);
  // Some jobs are in neither source, such as a job that ended long ago.
  const name = live.value.jobs?.get(jobId)?.name ?? jobNames.value[String(jobId)] ?? 'job';
  return `${name} #${jobId}`;
}

// data-row: the keys j and k can move to the link.
export function Subject(subject: SubjectOf) {
  const name = subjectName(subject);
  if (name === '') return null;
  const href =
    subject.jobId === undefined
      ? `/nodes?node=${encodeURIComponent(name)}`
      : jobPath(subject.jobId);
  return (
    <Link href={href} data-row>
      {name}
    </Link>
  );
}
