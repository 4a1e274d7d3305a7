import { JOB_LOOK, NODE_LOOK, lookOf, type StateLook } from '../format/words';
import type { JobState, Node } from '../api/types';
import { wordOf } from '../nodes/node_word';
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

export const NodeBadge = ({ node }: { node: Node }) => (
  <Badge look={lookOf(NODE_LOOK, wordOf(node))} />
);
