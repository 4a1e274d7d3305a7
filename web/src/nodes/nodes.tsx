// The page of all nodes: state with reason, slots, devices and heartbeats of each node. The
// reservations, the topology and the controllers are below.
import { useState } from 'preact/hooks';
import { capabilities, nodeList, serverNow, stale } from '../api/store';
import type { Node } from '../api/types';
import { bytes } from '../format/numbers';
import { ago } from '../format/time';
import { Slots, workerLine } from '../overview/cluster_map';
import { areAlike } from '../overview/node_names';
import { problemsFirst, problemCounts } from '../overview/node_problems';
import { Link, query, setQuery } from '../router/router';
import { nodePath } from '../router/url';
import { NodeBadge } from '../ui/badge';
import { CommandLine } from '../ui/copy';
import { matching } from '../ui/matching';
import { Empty, Skeleton } from '../ui/notice';
import { Table, type Column } from '../ui/table';
import { Controllers } from './controllers';
import { deviceText } from './device_text';
import { newestHeartbeat } from './heartbeat_times';
import { CordonDialog } from './node_dialogs';
import { nodeReason } from './node_reason';
import { groupText, labelText } from './place_text';
import { Reservations } from './reservations';
import { Topology } from './topology';
import { useHeartbeats } from './use_heartbeats';

function SlotsCell({ node }: { node: Node }) {
  const used = node.slot_uses.filter(({ job_id: id }) => id !== 0).length;
  return (
    <div class="slots-cell">
      <Slots node={node} />
      <span>
        {used}/{node.slot_uses.length}
        <span class="hidden"> slots in use</span>
      </span>
    </div>
  );
}

function StateCell({ node, heartbeatMs }: { node: Node; heartbeatMs: number }) {
  const reason = nodeReason(node, heartbeatMs, serverNow.value);
  return (
    <>
      <NodeBadge node={node} />
      {reason && (
        <span class="node-reason faint" title={reason}>
          {reason}
        </span>
      )}
    </>
  );
}

// `alike`: true if the names begin alike. `heartbeatOf` returns the time of the last heartbeat.
function columns(
  alike: boolean,
  heartbeatOf: (node: Node) => number,
  onCordon: (node: Node) => void,
): Column<Node>[] {
  const data: Column<Node>[] = [
    {
      name: 'Node',
      cell: (node) => (
        <span class={alike ? 'front-cut' : ''} title={node.name}>
          <Link href={nodePath(node.id)} data-row>
            <bdi>{node.name}</bdi>
          </Link>
        </span>
      ),
    },
    {
      name: 'State',
      cell: (node) => <StateCell node={node} heartbeatMs={heartbeatOf(node)} />,
    },
    {
      name: 'Slots in use',
      width: '250px',
      priority: 2,
      cell: (node) => <SlotsCell node={node} />,
    },
    { name: 'Devices', width: '150px', priority: 3, cell: (node) => deviceText(node) || '—' },
    {
      name: 'Memory',
      width: '88px',
      right: true,
      priority: 3,
      cell: (node) => bytes(node.inventory?.memory_bytes),
    },
    {
      name: 'Heartbeat',
      width: '92px',
      cell: (node) => ago(heartbeatOf(node), serverNow.value),
    },
  ];
  if (!capabilities.value.includes('cordon')) return data;
  const button: Column<Node> = {
    name: 'Actions',
    quietName: true,
    width: '118px',
    right: true,
    priority: 2,
    cell: (node) => (
      <button
        type="button"
        class="quiet"
        disabled={stale.value}
        onClick={() => onCordon(node)}
        aria-label={`${node.cordoned ? 'Uncordon' : 'Cordon'} ${node.name}`}
      >
        {node.cordoned ? 'Uncordon…' : 'Cordon…'}
      </button>
    ),
  };
  return [...data, button];
}

const wordsOf = (node: Node) =>
  `${node.name} ${node.word} ${node.cordoned ? 'cordoned' : ''} ${node.address} ` +
  `${deviceText(node)} ${groupText(node)} ${labelText(node)}`;

function Head({ nodes, text }: { nodes: readonly Node[] | undefined; text: string }) {
  const problems = problemCounts(nodes ?? []);
  return (
    <div class="page-head">
      <h1>Nodes {nodes && <span class="number">{nodes.length}</span>}</h1>
      {problems.length > 0 && (
        <p class="faint">{problems.map(([word, amount]) => `${amount} ${word}`).join(', ')}</p>
      )}
      {nodes && nodes.length > 1 && (
        <input
          type="search"
          placeholder="Filter: name, state, device"
          aria-label="Filter nodes"
          value={text}
          onInput={(event) => setQuery({ node: event.currentTarget.value })}
        />
      )}
    </div>
  );
}

export function Nodes() {
  const [asked, setAsked] = useState<Node>();
  const heartbeats = useHeartbeats();
  const nodes = nodeList.value;
  const text = query.value.get('node') ?? '';
  // Sorted by relevance during a search. Without a search, nodes with problems are first.
  const shown = nodes && (text ? matching(nodes, wordsOf, text) : problemsFirst(nodes));
  return (
    <>
      <Head nodes={nodes} text={text} />
      {!nodes && <Skeleton rows={4} height={36} />}
      {nodes?.length === 0 && (
        <Empty title="No worker has joined yet">
          <p>Start a worker on each machine. GPUs are detected automatically:</p>
          <CommandLine text={workerLine()} />
        </Empty>
      )}
      {nodes && nodes.length > 0 && shown?.length === 0 && <Empty title="No matching nodes" />}
      {shown && shown.length > 0 && (
        <Table
          label="Nodes"
          columns={columns(
            areAlike(shown),
            (node) => newestHeartbeat(node, heartbeats),
            setAsked,
          )}
          rows={shown}
          rowKey={(node) => node.id}
          rowHref={(node) => nodePath(node.id)}
        />
      )}
      <Reservations />
      <Topology />
      <Controllers />
      {asked && <CordonDialog node={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
