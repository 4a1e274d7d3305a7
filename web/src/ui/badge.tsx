import {
  CORDONED,
  HEALTH_LOOK,
  JOB_LOOK,
  NODE_LOOK,
  QUARANTINED,
  UNHEALTHY,
  lookOf,
  type StateLook,
} from '../format/words';
import type { Job, JobState, Node } from '../api/types';
import { hasFinding, headline, wordOf } from '../job/health';
import { Icon } from './icon';

export function Badge({ look, title }: { look: StateLook; title?: string }) {
  return (
    <span class={`badge tone-${look.tone}`} title={title}>
      <Icon name={look.icon} />
      {look.word}
    </span>
  );
}

export const JobBadge = ({ state }: { state: JobState }) => (
  <Badge look={lookOf(JOB_LOOK, state)} />
);

export const HealthBadge = ({ job }: { job: Job }) => (
  <Badge look={lookOf(HEALTH_LOOK, wordOf(job))} title={headline(job)} />
);

// Shows the health of a job that has a finding. Shows the state of any other job.
export const JobStatus = ({ job }: { job: Job }) =>
  hasFinding(job) ? <HealthBadge job={job} /> : <JobBadge state={job.state} />;

// If a node is both lost and cordoned, shows that it is lost.
export function NodeBadge({ node }: { node: Node }) {
  const ready = node.state === 'ready';
  if (ready && node.cordoned) return <Badge look={CORDONED} title={node.cordon_reason} />;
  const quarantine = node.health?.quarantine;
  if (ready && quarantine) return <Badge look={QUARANTINED} title={quarantine.reason} />;
  if (ready && node.health) return <Badge look={UNHEALTHY} title={node.health.reason} />;
  return <Badge look={lookOf(NODE_LOOK, node.state)} title={node.state_reason} />;
}
