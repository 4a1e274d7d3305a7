// A map of the nodes and their slots. Each slot shows its job by number and color.
import { grpcPort, jobList, jobNames, live, nodeList } from '../api/store';
import type { Node } from '../api/types';
import { runColorName } from '../chart/colors';
import { count, plural } from '../format/numbers';
import { Link, navigate } from '../router/router';
import { jobPath, nodePath } from '../router/url';
import { NodeBadge } from '../ui/badge';
import { CommandLine } from '../ui/copy';
import { Empty } from '../ui/notice';
import { slotRangeText, slotRangesOf, splitIntoRows } from './slot_ranges';
import { areAlike } from './node_names';
import { hasProblem, problemCounts } from './node_problems';

// With more nodes than this, nodes are drawn small.
const DENSE_FROM = 32;

export const workerLine = () =>
  `trainyard-worker --controller ${location.hostname}:${grpcPort.value || 'PORT'} --data-dir DIR`;

export const jobColor = (jobId: number) => runColorName(jobId - 1);

function jobName(id: number): string {
  return live.value.jobs?.get(id)?.name ?? jobNames.value[String(id)] ?? 'job';
}

// Adjacent slots of one job share a link, because a link per slot would give a gang of a thousand
// ranks a thousand tab stops.
export function Slots({ node }: { node: Node }) {
  return (
    <div class="slots">
      {slotRangesOf(node.slot_uses).flatMap((slots) => {
        const { jobId, first, count } = slots;
        if (jobId === 0) {
          return Array.from({ length: count }, (_, index) => (
            <i key={first + index} class="slot free" title={`slot ${first + index}, free`} />
          ));
        }
        // A row has 8 slots, so a longer range has several links.
        return splitIntoRows(slots).map((row) => {
          const text = slotRangeText(row, jobName(jobId));
          return (
            <a
              key={row.first}
              class={`slot ${jobColor(jobId)}`}
              style={{ gridColumn: `span ${row.count}` }}
              title={text}
              aria-label={text}
              href={jobPath(jobId)}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey) return;
                event.preventDefault();
                navigate(jobPath(jobId));
              }}
            >
              {jobId}
            </a>
          );
        });
      })}
    </div>
  );
}

function MapNode({ node, dense }: { node: Node; dense: boolean }) {
  const used = node.slot_uses.filter(({ job_id: id }) => id !== 0).length;
  const plain = !hasProblem(node);
  const marks = `${node.cordoned ? 'cordoned' : ''} ${plain ? '' : 'troubled'}`;
  return (
    <li class={`map-node state-${node.state} ${marks}`}>
      <p>
        {dense ? (
          // The name is not a link, because two links this close to each other would be hard to
          // hit.
          <b title={node.name}>
            <bdi>{node.name}</bdi>
          </b>
        ) : (
          <Link href={nodePath(node.id)}>
            <bdi>{node.name}</bdi>
          </Link>
        )}
        {plain ? (
          <span class="faint">
            {used}/{node.slot_uses.length}
          </span>
        ) : (
          <NodeBadge node={node} />
        )}
      </p>
      <Slots node={node} />
    </li>
  );
}

function summary(nodes: readonly Node[]): string {
  const slots = nodes.flatMap((node) => node.slot_uses);
  const used = slots.filter(({ job_id: id }) => id !== 0).length;
  return [
    plural(nodes.length, 'node'),
    ...problemCounts(nodes).map(([word, amount]) => `${amount} ${word}`),
    `${count(used)} of ${plural(slots.length, 'slot')} in use`,
  ].join(', ');
}

export function ClusterMap() {
  const nodes = nodeList.value;
  const dense = (nodes?.length ?? 0) > DENSE_FROM;
  return (
    <section class="card map-card" aria-labelledby="cluster-title">
      <header>
        <h2 id="cluster-title">Cluster</h2>
        {nodes && nodes.length > 0 && <p class="faint">{summary(nodes)}</p>}
      </header>
      {nodes?.length === 0 && (
        <Empty title="No worker has joined yet">
          {jobList.value?.length === 0 ? (
            'Slots appear here, colored by job.'
          ) : (
            <>
              <p>Start a worker on each machine:</p>
              <CommandLine text={workerLine()} />
            </>
          )}
        </Empty>
      )}
      {nodes && nodes.length > 0 && (
        <ul class={`map ${dense ? 'dense' : ''} ${areAlike(nodes) ? 'alike' : ''}`}>
          {nodes.map((node) => (
            <MapNode key={node.id} node={node} dense={dense} />
          ))}
        </ul>
      )}
    </section>
  );
}
