// Nodes and their slots, each slot with the number and the colour of the job that holds it.
import { jobNames, live, nodeList } from '../api/store';
import type { Node } from '../api/types';
import { runColorName } from '../chart/colors';
import { plural } from '../format/numbers';
import { Link, navigate } from '../router/router';
import { jobPath } from '../router/url';
import { NodeBadge } from '../ui/badge';
import { CommandLine } from '../ui/copy';
import { Empty, Skeleton } from '../ui/notice';

// Beyond this many slots numbers do not fit any more; the title still tells.
const NUMBERED_SLOTS = 512;

const workerLine = () => `trainyard-worker --controller ${location.hostname}:7070 --data-dir DIR`;

export const jobColor = (jobId: number) => runColorName(jobId - 1);

function jobName(id: number): string {
  return live.value.jobs?.get(id)?.name ?? jobNames.value[String(id)] ?? 'job';
}

export function Slots({ node, numbered }: { node: Node; numbered: boolean }) {
  return (
    <div class="slots">
      {node.slot_uses.map((use, index) => {
        if (use.job_id === 0)
          return <i key={index} class="slot free" title={`slot ${index}, free`} />;
        const text = `slot ${index}: ${jobName(use.job_id)} #${use.job_id}, rank ${use.rank}`;
        return (
          <a
            key={index}
            class={`slot ${jobColor(use.job_id)}`}
            title={text}
            aria-label={text}
            href={jobPath(use.job_id)}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey) return;
              event.preventDefault();
              navigate(jobPath(use.job_id));
            }}
          >
            {numbered ? use.job_id : ''}
          </a>
        );
      })}
    </div>
  );
}

function MapNode({ node, numbered }: { node: Node; numbered: boolean }) {
  const used = node.slot_uses.filter(({ job_id: id }) => id !== 0).length;
  const plain = node.state === 'ready' && !node.cordoned;
  return (
    <li class={`map-node state-${node.state} ${node.cordoned ? 'cordoned' : ''}`}>
      <p>
        <Link href={`/nodes?node=${encodeURIComponent(node.name)}`}>{node.name}</Link>
        {plain ? (
          <span class="faint">
            {used}/{node.slot_uses.length}
          </span>
        ) : (
          <NodeBadge node={node} />
        )}
      </p>
      <Slots node={node} numbered={numbered} />
    </li>
  );
}

function summary(nodes: readonly Node[]): string {
  const slots = nodes.flatMap((node) => node.slot_uses);
  const used = slots.filter(({ job_id: id }) => id !== 0).length;
  return `${plural(nodes.length, 'node')}, ${used} of ${plural(slots.length, 'slot')} in use`;
}

export function ClusterMap() {
  const nodes = nodeList.value;
  const slots = nodes?.reduce((sum, node) => sum + node.slot_uses.length, 0) ?? 0;
  return (
    <section class="card" aria-labelledby="cluster-title">
      <header>
        <h2 id="cluster-title">Cluster</h2>
        {nodes && nodes.length > 0 && <p class="faint">{summary(nodes)}</p>}
      </header>
      {!nodes && <Skeleton rows={3} height={36} />}
      {nodes?.length === 0 && (
        <Empty title="No worker has joined yet">
          <p>Start one on each machine:</p>
          <CommandLine text={workerLine()} />
        </Empty>
      )}
      {nodes && nodes.length > 0 && (
        <ul class="map">
          {nodes.map((node) => (
            <MapNode key={node.id} node={node} numbered={slots <= NUMBERED_SLOTS} />
          ))}
        </ul>
      )}
    </section>
  );
}
