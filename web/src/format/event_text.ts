// Formats events as sentences. Pure functions.
import type { Event, EventEntry } from '../api/types';
import { bytes, plural } from './numbers';
import { rateChangeText } from './rate_change';
import { duration } from './time';
import { jobLook, plainWords, type IconName, type Tone } from './words';

export interface EventText {
  text: string;
  tone: Tone;
  icon: IconName;
  jobId?: number;
  nodeId?: string;
}

// The fields that every event has. An event sets one other field, whose name is its kind.
const HEAD = ['time_ms', 'actor', 'actor_verified', 'leader_term'] as const;
type Head = (typeof HEAD)[number];
type Kinds = Omit<Event, Head>;
type Kind = keyof Kinds;
type Describe<K extends Kind> = (
  fact: NonNullable<Kinds[K]>,
) => Omit<EventText, 'jobId' | 'nodeId'>;

const line = (text: string, tone: Tone, icon: IconName) => ({ text, tone, icon });

// At its first start, at a start after a reboot, and when its clock is set, a controller records
// how the clock relates to the log.
const clockText: Describe<'clock_set'> = ({ step_ms: step, assumed_ms: assumed, doubt }) => {
  if (doubt) return line(`the controller's clock may be wrong: ${doubt}`, 'warn', 'warn');
  const seconds = duration(Math.abs(step || assumed) / 1000);
  if (step !== 0) {
    const way = step > 0 ? 'forward' : 'back';
    return line(`the controller's clock was set ${way} by ${seconds}`, 'idle', 'dot');
  }
  if (assumed === 0) {
    return line('cluster created by the first start of its controller', 'good', 'check');
  }
  const text = `controller started after a reboot, ${seconds} after its newest event`;
  return line(text, 'idle', 'dot');
};

// The step of a checkpoint of another program is not known, so its path is shown instead.
function startOf({ resume_step: step, resume_from: path }: NonNullable<Kinds['job_placed']>) {
  if (step > 0) return `, continuing from step ${step}`;
  return path ? `, continuing from ${path}` : '';
}

const fromStep = (step: number) => (step > 0 ? ` from step ${step}` : '');

const DESCRIPTIONS: { [K in Kind]?: Describe<K> } = {
  job_submitted: () => line('submitted', 'wait', 'circle'),
  job_placed: (f) =>
    line(
      `attempt ${f.attempt} placed on ${plural(f.ranks.length, 'slot')}${startOf(f)}` +
        (f.size_change ? `; ${f.size_change}` : ''),
      'run',
      'half',
    ),
  rank_started: (f) => line(`rank ${f.rank} started`, 'run', 'dot'),
  rank_exited: (f) => {
    if (f.spawn_error)
      return line(`rank ${f.rank} could not start: ${f.spawn_error}`, 'bad', 'cross');
    if (f.limit_exceeded) return line(`rank ${f.rank} ended: ${f.limit_exceeded}`, 'bad', 'cross');
    if (f.out_of_memory) return line(`rank ${f.rank} killed: out of memory`, 'bad', 'cross');
    const how = f.signal ? `terminated by signal ${f.signal}` : `exited with code ${f.exit_code}`;
    const text = `rank ${f.rank} ${how}`;
    if (f.stop_requested) return line(`${text} after the stop request`, 'idle', 'stop');
    return f.signal || f.exit_code ? line(text, 'bad', 'cross') : line(text, 'idle', 'dot');
  },
  attempt_running: (f) =>
    line(`attempt ${f.attempt} running${fromStep(f.resume_step)}`, 'run', 'play'),
  attempt_began: (f) => line(`attempt ${f.attempt} began at step ${f.first_step}`, 'run', 'dot'),
  learning_rate_changed: (f) =>
    line(f.change ? rateChangeText(f.change) : 'learning rate changed', 'warn', 'diamond'),
  stall_ended: (f) =>
    line(
      `made progress again after a stall of ${duration((f.until_ms - f.since_ms) / 1000)}`,
      'run',
      'play',
    ),
  training_time_lost: (f) =>
    line(
      `${duration(f.lost_ms / 1000)} of training lost while the run was ` +
        (f.phase === 'slow' ? 'slow' : 'diverging'),
      'warn',
      'triangle',
    ),
  attempt_failed: (f) =>
    line(
      `attempt ${f.attempt} failed: ${f.verdict?.summary || plainWords(f.verdict?.cause ?? '')}`,
      'bad',
      'cross',
    ),
  attempt_healing: (f) =>
    line(
      `attempt ${f.attempt} is healing in place with ${plural(f.seats.length, 'spare rank')}: ` +
        (f.verdict?.summary ?? ''),
      'warn',
      'warn',
    ),
  attempt_healed: (f) =>
    line(
      `attempt ${f.attempt} healed in ${(f.heal_ms / 1000).toFixed(1)} s at step ${f.step}, ` +
        `${plural(f.lost_steps, 'step')} redone`,
      'good',
      'check',
    ),
  attempt_yielded: (f) =>
    line(`attempt ${f.attempt} yields its slots: ${f.yield?.reason ?? ''}`, 'warn', 'pause'),
  attempt_cleared: (f) =>
    line(`a node confirmed that attempt ${f.attempt} has ended there`, 'idle', 'dot'),
  attempt_ended: (f) =>
    line(
      `attempt ${f.attempt} ended${f.last_step > 0 ? ` at step ${f.last_step}` : ''}`,
      'idle',
      'stop',
    ),
  array_element_refused: (f) =>
    line(`element ${f.index} could not start: ${f.reason}`, 'bad', 'cross'),
  array_halved: (f) =>
    line(
      `element ${f.rung?.index ?? 0} ranks ${f.rung?.rank ?? 0} of ${f.rung?.compared ?? 0} ` +
        `at step ${f.rung?.step ?? 0}${f.rung?.stopped ? ' and is stopped' : ''}`,
      f.rung?.stopped ? 'warn' : 'idle',
      'dot',
    ),
  job_stop_requested: (f) =>
    line(
      f.halved
        ? 'stopped by the halving of its array'
        : f.kill
          ? 'kill requested'
          : 'stop requested',
      'idle',
      'square',
    ),
  job_paused: (f) =>
    f.reason
      ? line(`paused: ${f.reason}`, 'warn', 'pause')
      : line('pause requested', 'idle', 'pause'),
  job_resumed: () => line('resumed', 'run', 'play'),
  job_extended: (f) => line(`time limit extended by ${duration(f.by_ms / 1000)}`, 'idle', 'dot'),
  time_limit_warned: (f) => line(`attempt ${f.attempt} warned of its time limit`, 'idle', 'dot'),
  time_limit_reached: (f) =>
    line(`attempt ${f.attempt} reached the time limit; its ranks save and exit`, 'idle', 'stop'),
  note_written: (f) => line(`note on step ${f.step}: ${f.text}`, 'idle', 'stop'),
  exec_opened: (f) =>
    line(
      (f.command ? `ran \`${f.command}\`` : 'opened a shell') +
        ` beside rank ${f.rank} of attempt ${f.attempt}`,
      'idle',
      'dot',
    ),
  note_deleted: (f) => line(`note ${f.note_id} on step ${f.step} deleted`, 'idle', 'dot'),
  job_ended: (f) => {
    const { tone, icon } = jobLook(f);
    return line(
      `job ${plainWords(f.state)}${f.verdict?.summary ? `: ${f.verdict.summary}` : ''}`,
      tone,
      icon,
    );
  },
  job_archived: () => line('moved to the archive', 'idle', 'dot'),
  job_deleted: (f) => line(`${f.name} deleted`, 'idle', 'cross'),
  checkpoint_published: (f) =>
    line(
      `checkpoint at step ${f.checkpoint?.step ?? '?'}, ${bytes(f.checkpoint?.bytes)}`,
      'good',
      'triangle',
    ),
  checkpoint_deleted: (f) => line(`checkpoint at step ${f.step} deleted`, 'idle', 'dot'),
  checkpoint_rejected: (f) =>
    line(`checkpoint at step ${f.step} rejected as unreadable: ${f.reason}`, 'bad', 'cross'),
  attempt_rolled_back: (f) =>
    line(`attempt ${f.attempt} rolled back: ${f.verdict?.summary ?? ''}`, 'warn', 'diamond'),
  node_joined: (f) =>
    line(`joined with ${plural(f.node?.inventory?.slots.length ?? 0, 'slot')}`, 'good', 'check'),
  node_suspected: () => line('no heartbeat', 'warn', 'warn'),
  node_returned: () => line('reconnected', 'good', 'check'),
  node_lost: (f) => line(`lost: ${f.reason}`, 'bad', 'cross'),
  node_cordoned: (f) => line(`cordoned${f.reason ? `: ${f.reason}` : ''}`, 'idle', 'bar'),
  node_uncordoned: () => line('uncordoned', 'good', 'check'),
  node_draining: (f) => line(`drain requested${f.reason ? `: ${f.reason}` : ''}`, 'warn', 'bar'),
  node_drained: () => line('drained: no job runs here', 'idle', 'bar'),
  node_unhealthy: (f) =>
    f.health?.quarantine
      ? line(`quarantined: ${f.health.quarantine.reason}`, 'bad', 'warn')
      : line(`unhealthy: ${f.health?.reason ?? ''}`, 'bad', 'warn'),
  node_blamed: (f) =>
    line(`failure attributed to this node: ${f.evidence?.reason ?? ''}`, 'warn', 'warn'),
  node_healthy: () => line('healthy again', 'good', 'check'),
  node_released: (f) => line(`released${f.reason ? `: ${f.reason}` : ''}`, 'good', 'check'),
  node_removed: (f) => line(`removed${f.reason ? `: ${f.reason}` : ''}`, 'idle', 'cross'),
  events_lost: (f) =>
    line(
      `the event log lost events: ${f.seen_by} has seen event ${f.mark?.sequence ?? '?'}, ` +
        `but the log ended at event ${f.last_sequence}`,
      'bad',
      'warn',
    ),
  clock_set: clockText,
  leadership_handed_over: (f) =>
    line(`leadership handed over from ${f.from} to ${f.to}`, 'idle', 'dot'),
  store_data_lost: (f) => line(`${f.store}.db lost data: ${f.reason}`, 'bad', 'warn'),
  alert_raised: (f) =>
    line(`${plainWords(f.code)} at step ${f.step}: ${f.message}`, 'warn', 'diamond'),
};

// Internal events. Lists leave these routine events out, such as the removal of an old checkpoint
// or the move of an ended job to the archive. Existing checkpoints have their own tab.
const INTERNAL: ReadonlySet<string> = new Set([
  'facts_received',
  'attempt_cleared',
  'checkpoint_deleted',
  'job_archived',
]);

// Returns the name of the field that is set, such as "job_placed".
export function eventKind(event: Event): Kind | undefined {
  return (Object.keys(event) as (keyof Event)[]).find(
    (key): key is Kind => !HEAD.includes(key as Head) && event[key] != null,
  );
}

export function isInternal({ event }: EventEntry): boolean {
  return !event || INTERNAL.has(eventKind(event) ?? '');
}

export function eventText(event: Event): EventText {
  const kind = eventKind(event);
  if (!kind) return { text: 'unknown event', tone: 'idle', icon: 'dot' };
  const fact = event[kind] as { job_id?: number; node_id?: string; node?: { id: string } };
  const describe = DESCRIPTIONS[kind] as Describe<Kind> | undefined;
  const described = describe ? describe(fact as never) : line(plainWords(kind), 'idle', 'dot');
  const nodeId = fact.node_id ?? fact.node?.id;
  return {
    ...described,
    ...(fact.job_id ? { jobId: fact.job_id } : {}),
    ...(nodeId && !fact.job_id ? { nodeId } : {}),
  };
}
