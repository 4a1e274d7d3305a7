// Machines: their devices, health, cordons, and the jobs on their slots.
import { useMemo, useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { capabilities, clock, nodeList, serverNow } from '../api/store';
import type { ListNodesResponse, Node } from '../api/types';
import { bytes, plural } from '../format/numbers';
import { ago } from '../format/time';
import { Confirm } from '../job/confirm';
import { Slots, workerLine } from '../overview/cluster_map';
import { problemsFirst, problemCounts } from '../overview/node_problems';
import { query, setQuery } from '../router/router';
import { NodeBadge } from '../ui/badge';
import { CommandLine } from '../ui/copy';
import { useLoad } from '../ui/load';
import { matching } from '../ui/matching';
import { Empty, Skeleton } from '../ui/notice';
import { heartbeatTimes, newestHeartbeat } from './heartbeat_times';

const HEARTBEAT_PACE_MS = 5_000;

// Such as "8 × NVIDIA H200". Devices of the same model are grouped.
export function deviceText(node: Node): string {
  const models = new Map<string, number>();
  for (const { model } of node.inventory?.slots ?? []) {
    models.set(model, (models.get(model) ?? 0) + 1);
  }
  return [...models].map(([model, amount]) => `${amount} × ${model}`).join(', ');
}

function CordonDialog({ node, onClose }: { node: Node; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const command = node.cordoned ? 'uncordon' : 'cordon';
  const quoted = reason === '' ? '' : ` --reason '${reason.replaceAll("'", "'\\''")}'`;
  const text = node.cordoned
    ? 'New ranks may be placed on this node again.'
    : 'No new ranks are placed on this node. Running ranks continue.';
  return (
    <Confirm
      title={`${node.cordoned ? 'Uncordon' : 'Cordon'} ${node.name}?`}
      text={text}
      commandLine={`trainyard node ${command} ${node.name}${node.cordoned ? '' : quoted}`}
      button={node.cordoned ? 'Uncordon' : 'Cordon'}
      onClose={onClose}
      act={async () => {
        const body = node.cordoned ? {} : { reason };
        await postJson(`/nodes/${encodeURIComponent(node.id)}/${command}`, body);
      }}
    >
      {!node.cordoned && (
        <label class="field">
          Reason (visible to all users)
          <input
            type="text"
            maxLength={256}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
      )}
    </Confirm>
  );
}

// Polls the times of the last heartbeats, because a heartbeat does not change a node's state and
// the stream sends a node only when its state changes.
function useHeartbeats(): ReadonlyMap<string, number> {
  const tick = Math.floor(clock.value / HEARTBEAT_PACE_MS);
  const asked = { fields: 'id,last_heartbeat_ms' };
  const { data } = useLoad<ListNodesResponse>('/nodes', asked, 'heartbeats', tick);
  return useMemo(() => heartbeatTimes(data?.nodes ?? []), [data]);
}

function NodeRow({
  node,
  receivedMs,
  onCordon,
}: {
  node: Node;
  receivedMs: number;
  onCordon: () => void;
}) {
  const used = node.slot_uses.filter(({ job_id: id }) => id !== 0).length;
  const note = node.cordoned ? node.cordon_reason : node.state_reason || node.health?.reason;
  const memory = node.inventory?.memory_bytes;
  return (
    <li class="node-row">
      <div class="node-name">
        <h2>{node.name}</h2>
        <NodeBadge node={node} />
        {note && <p class="faint">{note}</p>}
      </div>
      <div class="node-slots">
        <Slots node={node} />
        <p class="faint" title={`${used} of ${plural(node.slot_uses.length, 'slot')} in use`}>
          {used}/{node.slot_uses.length}
          <span class="hidden"> slots in use</span>
        </p>
      </div>
      <dl>
        <div>
          <dt>Devices</dt>
          <dd>{deviceText(node) || '—'}</dd>
        </div>
        <div class="p2">
          <dt>Memory</dt>
          <dd>{bytes(memory)}</dd>
        </div>
        <div>
          <dt>Last heartbeat</dt>
          <dd>{ago(receivedMs, serverNow.value)}</dd>
        </div>
        <div class="p2">
          <dt>Address</dt>
          <dd>{node.address || '—'}</dd>
        </div>
        <div class="p2">
          <dt>Worker</dt>
          <dd>{node.worker_version || '—'}</dd>
        </div>
      </dl>
      {capabilities.value.includes('cordon') && (
        <button
          type="button"
          class="quiet"
          onClick={onCordon}
          aria-label={`${node.cordoned ? 'Uncordon' : 'Cordon'} ${node.name}`}
        >
          {node.cordoned ? 'Uncordon…' : 'Cordon…'}
        </button>
      )}
    </li>
  );
}

export function Nodes() {
  const [asked, setAsked] = useState<Node>();
  const heartbeats = useHeartbeats();
  const nodes = nodeList.value;
  const text = query.value.get('node') ?? '';
  const words = (n: Node) =>
    `${n.name} ${n.state} ${n.cordoned ? 'cordoned' : ''} ${n.health ? 'unhealthy' : ''} ` +
    `${n.address} ${deviceText(n)}`;
  // Sorted by relevance during a search; otherwise nodes with problems first.
  const shown = nodes && (text ? matching(nodes, words, text) : problemsFirst(nodes));
  return (
    <>
      <div class="page-head">
        <h1>Nodes {nodes && <span class="number">{nodes.length}</span>}</h1>
        {nodes && problemCounts(nodes).length > 0 && (
          <p class="faint">
            {problemCounts(nodes)
              .map(([word, amount]) => `${amount} ${word}`)
              .join(', ')}
          </p>
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
      {!nodes && <Skeleton rows={4} height={64} />}
      {nodes?.length === 0 && (
        <Empty title="No worker has joined yet">
          <p>Start a worker on each machine. GPUs are detected automatically:</p>
          <CommandLine text={workerLine()} />
        </Empty>
      )}
      {nodes && nodes.length > 0 && shown?.length === 0 && <Empty title="No matching nodes" />}
      {shown && shown.length > 0 && (
        <ul class="nodes">
          <li class="node-row node-head" aria-hidden="true">
            <span>Node</span>
            <span>Slots in use</span>
            <span class="node-columns">
              {['Devices', 'Memory', 'Heartbeat', 'Address', 'Worker'].map((name) => (
                <span key={name}>{name}</span>
              ))}
            </span>
          </li>
          {shown.map((node) => (
            <NodeRow
              key={node.id}
              node={node}
              receivedMs={newestHeartbeat(node, heartbeats)}
              onCordon={() => setAsked(node)}
            />
          ))}
        </ul>
      )}
      {asked && <CordonDialog node={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}
