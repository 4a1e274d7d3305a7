import { NODE_LOOK, jobLook, lookOf, type StateLook } from '../format/words';
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

export const NodeBadge = ({ node }: { node: Node }) => (
  <Badge look={lookOf(NODE_LOOK, node.word)} />
);
