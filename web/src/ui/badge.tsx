import { CORDONED, JOB_LOOK, NODE_LOOK, lookOf, type StateLook } from '../format/words';
import type { JobState, Node } from '../api/types';
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

// Contact first: a lost node that is cordoned is lost.
export function NodeBadge({ node }: { node: Node }) {
  const cordoned = node.cordoned && node.state === 'ready';
  const look = cordoned ? CORDONED : lookOf(NODE_LOOK, node.state);
  return <Badge look={look} title={cordoned ? node.cordon_reason : node.state_reason} />;
}
