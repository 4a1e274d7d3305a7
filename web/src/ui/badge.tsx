import {
  CORDONED,
  NODE_LOOK,
  QUARANTINED,
  UNHEALTHY,
  jobLook,
  lookOf,
  type StateLook,
} from '../format/words';
import type { Job, Node } from '../api/types';
import { Icon } from './icon';

export function Badge({ look, title }: { look: StateLook; title?: string }) {
  return (
    <span class={`badge tone-${look.tone}`} title={title}>
      <Icon name={look.icon} />
      {look.word}
    </span>
  );
}

// `verdict`: needed only for jobs that have ended.
export const JobBadge = ({ state, verdict }: Pick<Job, 'state' | 'verdict'>) => (
  <Badge look={jobLook({ state, verdict })} />
);

// A node that is both lost and cordoned is shown as lost.
export function NodeBadge({ node }: { node: Node }) {
  const ready = node.state === 'ready';
  if (ready && node.cordoned) return <Badge look={CORDONED} title={node.cordon_reason} />;
  const quarantine = node.health?.quarantine;
  if (ready && quarantine) return <Badge look={QUARANTINED} title={quarantine.reason} />;
  if (ready && node.health) return <Badge look={UNHEALTHY} title={node.health.reason} />;
  return <Badge look={lookOf(NODE_LOOK, node.state)} title={node.state_reason} />;
}
