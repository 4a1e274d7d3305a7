// The page of one node: its state with the reason, the history of its GPUs, the attempts on it, the
// failures attributed to it, and the checks of its machine.
import { useEffect } from 'preact/hooks';
import { capabilities, jobNames, live, nodeList, serverNow, stale } from '../api/store';
import type { CheckNodesResponse, GetNodeResponse, Node } from '../api/types';
import { EventList } from '../events/event_list';
import { eventText } from '../format/event_text';
import { bytes } from '../format/numbers';
import { ago, fullTime } from '../format/time';
import { NODE_LOOK, lookOf, plainWords } from '../format/words';
import { Slots } from '../overview/cluster_map';
import { Link, place } from '../router/router';
import { jobPath } from '../router/url';
import { nodeSubject, useAction } from '../ui/asked_action';
import { JobBadge, NodeBadge } from '../ui/badge';
import { Figure } from '../ui/figure';
import { Icon } from '../ui/icon';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { deviceText } from './device_text';
import { newestHeartbeat } from './heartbeat_times';
import { hostNote } from './host_requests';
import { Devices, chosenHours } from './devices';
import { attemptsOn, rankText, type HeldSlots } from './node_attempts';
import { CordonDialog, DrainDialog, ReleaseDialog } from './node_dialogs';
import { nodeReason } from './node_reason';
import { PastAttempts } from './past_attempts';
import { groupText, labelText } from './place_text';
import { reservationTexts } from './reservation_text';
import { useHeartbeats } from './use_heartbeats';

// The interval at which checks, readings and past attempts are requested. Workers send checks and
// readings about once per minute.
const PACE_MS = 30_000;
const EVENTS = 20;

function NodeActions({ node }: { node: Node }) {
  const [action, setAction] = useAction<'cordon' | 'drain' | 'release'>(nodeSubject(node.id));
  const close = () => setAction(undefined);
  if (!capabilities.value.includes('cordon')) return null;
  return (
    <div class="actions">
      {node.health?.quarantine && (
        <button type="button" disabled={stale.value} onClick={() => setAction('release')}>
          Release…
        </button>
      )}
      <button type="button" disabled={stale.value} onClick={() => setAction('drain')}>
        Drain…
      </button>
      <button type="button" disabled={stale.value} onClick={() => setAction('cordon')}>
        {node.cordoned ? 'Uncordon…' : 'Cordon…'}
      </button>
      {action === 'cordon' && <CordonDialog node={node} onClose={close} />}
      {action === 'drain' && <DrainDialog node={node} onClose={close} />}
      {action === 'release' && <ReleaseDialog node={node} onClose={close} />}
    </div>
  );
}

// Live nodes have no reservations. `detail` is the loaded node, which has them.
function Header({
  node,
  detail = node,
  heartbeatMs,
}: {
  node: Node;
  detail?: Node;
  heartbeatMs: number;
}) {
  const now = serverNow.value;
  const reason = nodeReason(node, heartbeatMs, now);
  const used = node.slot_uses.filter(({ job_id: id }) => id !== 0).length;
  const look = lookOf(NODE_LOOK, node.word);
  return (
    <header class="job-header">
      <div class="job-title">
        <h1>{node.name}</h1>
        <NodeBadge node={node} />
        <p class="facts">
          <span>{node.address || 'address unknown'}</span>
          <span>worker {node.worker_version || 'unknown'}</span>
          {groupText(node) && <span>in {groupText(node)}</span>}
          {labelText(node) && <span>labels {labelText(node)}</span>}
          {reservationTexts(detail, now).map((text) => (
            <span key={text}>{text}</span>
          ))}
          <time title={fullTime(node.joined_time_ms)}>joined {ago(node.joined_time_ms, now)}</time>
        </p>
        <NodeActions node={node} />
      </div>
      {reason && (
        <p class={`reason tone-${look.tone}`}>
          <Icon name={look.icon} />
          <span>{reason}</span>
        </p>
      )}
      <dl class="figures">
        <Figure
          name="Slots in use"
          value={`${used} of ${node.slot_uses.length}`}
          note={deviceText(node)}
        />
        <Figure name="Last heartbeat" value={ago(heartbeatMs, now)} />
        <Figure name="Health score" value={node.score} note="of 100" />
        <Figure
          name="Memory"
          value={bytes(node.inventory?.memory_bytes)}
          note={hostNote(node)}
        />
        <Figure
          name="Disk free"
          value={bytes(node.disk_bytes > 0 ? node.disk_free_bytes : undefined)}
          note={node.disk_bytes > 0 ? `of ${bytes(node.disk_bytes)}` : undefined}
        />
      </dl>
    </header>
  );
}

function JobLink({ id }: { id: number }) {
  const name = live.value.jobs?.get(id)?.name ?? jobNames.value[String(id)] ?? 'job';
  return (
    <Link href={jobPath(id)} data-row>
      {name} #{id}
    </Link>
  );
}

function AttemptRow({ attempt: { jobId, attempt, ranks, unkillable } }: { attempt: HeldSlots }) {
  const job = live.value.jobs?.get(jobId);
  return (
    <li>
      <p>
        <JobLink id={jobId} />
        {job && <JobBadge state={job.state} />}
        <span class="faint">attempt {attempt}</span>
        <Link href={`${jobPath(jobId, 'ranks')}?rank=${ranks[0]}`}>{rankText(ranks)}</Link>
      </p>
      {unkillable.map((text) => (
        <p key={text} class="tone-bad">
          Cannot be killed: {text}
        </p>
      ))}
    </li>
  );
}

function Attempts({ node }: { node: Node }) {
  const attempts = attemptsOn(node);
  return (
    <section class="card" aria-labelledby="attempts-title">
      <header>
        <h2 id="attempts-title">Attempts on this node</h2>
      </header>
      <Slots node={node} />
      {attempts.length === 0 && <Empty title="All slots are free" />}
      <ul class="waits">
        {attempts.map((attempt) => (
          <AttemptRow key={`${attempt.jobId}/${attempt.attempt}`} attempt={attempt} />
        ))}
      </ul>
    </section>
  );
}

// Evidence from before the last release of a quarantine no longer counts.
function Evidence({ node }: { node: Node }) {
  const newestFirst = [...node.evidence].reverse();
  return (
    <section class="card" aria-labelledby="evidence-title">
      <header>
        <h2 id="evidence-title">Failures attributed to this node</h2>
      </header>
      {newestFirst.length === 0 && <Empty title="None" />}
      <ul class="waits">
        {newestFirst.map((found, index) => (
          <li key={`${found.time_ms}/${index}`}>
            <p>
              <b>{plainWords(found.fault)}</b>
              {found.xid > 0 && <span>XID {found.xid}</span>}
              {found.job_id > 0 && <JobLink id={found.job_id} />}
              {found.attempt > 0 && <span class="faint">attempt {found.attempt}</span>}
              {found.time_ms < node.released_time_ms && <span class="faint">no longer counts</span>}
              <time class="faint end" title={fullTime(found.time_ms)}>
                {ago(found.time_ms, serverNow.value)}
              </time>
            </p>
            <p class="faint">{found.reason}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Checks({ node }: { node: Node }) {
  const tick = Math.floor(serverNow.value / PACE_MS);
  const { data, error } = useLoad<CheckNodesResponse>('/checks', {}, 'checks', tick);
  const found = data?.nodes.find(({ id }) => id === node.id);
  return (
    <section class="card" aria-labelledby="checks-title">
      <header>
        <h2 id="checks-title">Checks</h2>
        {found && found.checked_ms > 0 && (
          <p class="faint">{ago(found.checked_ms, serverNow.value)}</p>
        )}
      </header>
      {error && <Failure error={error} />}
      {!data && !error && <Skeleton rows={4} height={18} />}
      {data && !found?.checks.length && <Empty title="The worker has sent no checks" />}
      <ul class="waits">
        {found?.checks.map(({ name, ok, found: text, advice }) => (
          <li key={name}>
            <p>
              <span class={`badge tone-${ok ? 'good' : 'bad'}`}>
                <Icon name={ok ? 'check' : 'cross'} />
                {name}
                <span class="hidden">{ok ? ' passed' : ' failed'}</span>
              </span>
              <span>{text}</span>
            </p>
            {advice && <p class="faint">{advice}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function NodeEvents({ node }: { node: Node }) {
  const about = ({ event }: { event?: Parameters<typeof eventText>[0] }) =>
    event !== undefined && eventText(event).nodeId === node.id;
  const lines = live.value.events?.filter(about).slice(0, EVENTS) ?? [];
  if (lines.length === 0) return null;
  return (
    <section class="card" aria-labelledby="node-events-title">
      <header>
        <h2 id="node-events-title">Recent events</h2>
      </header>
      <EventList lines={lines} about={false} />
    </section>
  );
}

function NodeView({ node, heartbeatMs }: { node: Node; heartbeatMs: number }) {
  const hours = chosenHours();
  const tick = Math.floor(serverNow.value / PACE_MS);
  const path = `/nodes/${encodeURIComponent(node.id)}`;
  const { data, error } = useLoad<GetNodeResponse>(path, { hours }, `${path} ${hours}`, tick);
  return (
    <>
      <Header node={node} detail={data?.node} heartbeatMs={heartbeatMs} />
      {error && <Failure error={error} />}
      <Devices node={node} devices={data?.devices} />
      <div class="node-cards">
        <div class="column">
          <Attempts node={node} />
          <PastAttempts attempts={data?.attempts} />
        </div>
        <div class="column">
          <Evidence node={node} />
          <Checks node={node} />
          <NodeEvents node={node} />
        </div>
      </div>
    </>
  );
}

export function NodePage() {
  const at = place.value;
  const reference = at.page === 'node' ? at.node : '';
  const heartbeats = useHeartbeats();
  const nodes = nodeList.value;
  const node = nodes?.find(({ id, name }) => id === reference || name === reference);
  useEffect(() => {
    document.title = node ? `${node.name} · Trainyard` : 'Trainyard';
  }, [node?.name]);
  if (!nodes) return <Skeleton rows={8} height={32} />;
  if (!node) {
    return (
      <Empty title={`Node ${reference} not found`}>
        <Link href="/nodes">All nodes</Link>
      </Empty>
    );
  }
  return <NodeView key={node.id} node={node} heartbeatMs={newestHeartbeat(node, heartbeats)} />;
}
