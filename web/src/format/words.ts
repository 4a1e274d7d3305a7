// Texts and symbols for states, causes and phases. Every state has a text and a symbol, so that
// users can recognize the state without color.
import type {
  HealthWord,
  Job,
  JobState,
  LedgerPhase,
  NodeWord,
  RankState,
} from '../api/types';

// Each tone is the color of a group of states.
export type Tone = 'wait' | 'run' | 'good' | 'bad' | 'warn' | 'idle';

export interface StateLook {
  word: string;
  tone: Tone;
  icon: IconName;
}

export type IconName =
  | 'circle'
  | 'half'
  | 'play'
  | 'retry'
  | 'square'
  | 'pause'
  | 'stop'
  | 'check'
  | 'cross'
  | 'warn'
  | 'bar'
  | 'dot'
  | 'search'
  | 'copy'
  | 'close'
  | 'down'
  | 'triangle'
  | 'diamond'
  | 'flag'
  | 'link'
  | 'disk';

export const JOB_LOOK: Record<JobState, StateLook> = {
  unspecified: { word: 'unknown', tone: 'idle', icon: 'circle' },
  queued: { word: 'queued', tone: 'wait', icon: 'circle' },
  starting: { word: 'starting', tone: 'run', icon: 'half' },
  running: { word: 'running', tone: 'run', icon: 'play' },
  recovering: { word: 'recovering', tone: 'warn', icon: 'retry' },
  stopping: { word: 'stopping', tone: 'idle', icon: 'square' },
  pausing: { word: 'pausing', tone: 'idle', icon: 'pause' },
  paused: { word: 'paused', tone: 'wait', icon: 'pause' },
  held: { word: 'held', tone: 'wait', icon: 'pause' },
  succeeded: { word: 'succeeded', tone: 'good', icon: 'check' },
  failed: { word: 'failed', tone: 'bad', icon: 'cross' },
  stopped: { word: 'stopped', tone: 'idle', icon: 'stop' },
};

export const NODE_LOOK: Record<NodeWord, StateLook> = {
  unspecified: { word: 'unknown', tone: 'idle', icon: 'circle' },
  ok: { word: 'ok', tone: 'good', icon: 'check' },
  cordoned: { word: 'cordoned', tone: 'idle', icon: 'bar' },
  draining: { word: 'draining', tone: 'warn', icon: 'bar' },
  drained: { word: 'drained', tone: 'idle', icon: 'bar' },
  unhealthy: { word: 'unhealthy', tone: 'bad', icon: 'warn' },
  quarantined: { word: 'quarantined', tone: 'bad', icon: 'warn' },
  suspect: { word: 'suspect', tone: 'warn', icon: 'warn' },
  lost: { word: 'lost', tone: 'bad', icon: 'cross' },
};

export const RANK_LOOK: Record<RankState, StateLook> = {
  unspecified: { word: 'unknown', tone: 'idle', icon: 'circle' },
  starting: { word: 'starting', tone: 'run', icon: 'half' },
  running: { word: 'running', tone: 'run', icon: 'play' },
  exited: { word: 'exited', tone: 'good', icon: 'check' },
  failed: { word: 'failed', tone: 'bad', icon: 'cross' },
  ended: { word: 'ended', tone: 'idle', icon: 'stop' },
  stopped: { word: 'stopped', tone: 'idle', icon: 'stop' },
};

// Returns a neutral look for an unknown state, which a newer controller may send.
export function lookOf<K extends string>(looks: Record<K, StateLook>, state: K): StateLook {
  return looks[state] ?? { word: state, tone: 'idle', icon: 'circle' };
}

// Returns the look of a job. A stop that lost steps looks like a failure.
export function jobLook({ state, verdict }: Pick<Job, 'state' | 'verdict'>): StateLook {
  const look = lookOf(JOB_LOOK, state);
  return verdict && verdict.lost_steps > 0 ? { ...look, tone: 'bad', icon: 'cross' } : look;
}

export const PHASE_WORD: Record<LedgerPhase, string> = {
  unspecified: 'unknown',
  queued: 'queued',
  paused: 'paused',
  init: 'startup',
  load: 'loading checkpoint',
  train: 'training',
  data_stall: 'waiting for data',
  checkpoint: 'saving checkpoint',
  evaluation: 'evaluation',
  redone: 'redone steps',
  stalled: 'stalled',
  diverging: 'diverging',
  slow: 'slow',
  unsaved: 'unsaved steps',
  heal: 'healing in place',
  standby: 'standby',
  restart: 'restart',
  stop: 'stopping',
};

// Begins with a capital letter: "rank 3 is slow" -> "Rank 3 is slow".
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

// "rank_exited" -> "rank exited".
export const plainWords = (code: string) => code.replaceAll('_', ' ');

// The color shows the severity. A healed job continues to train, so its color is good.
export const HEALTH_LOOK: Record<HealthWord, StateLook> = {
  unspecified: { word: 'unknown', tone: 'idle', icon: 'circle' },
  ok: { word: 'ok', tone: 'good', icon: 'check' },
  healed: { word: 'healed', tone: 'good', icon: 'check' },
  slow: { word: 'slow', tone: 'warn', icon: 'triangle' },
  unsaved: { word: 'unsaved', tone: 'warn', icon: 'disk' },
  looping: { word: 'looping', tone: 'bad', icon: 'retry' },
  diverging: { word: 'diverging', tone: 'bad', icon: 'diamond' },
  stalled: { word: 'stalled', tone: 'bad', icon: 'warn' },
};

// The consequence of a problem of the controller's event store.
export const NO_CHANGES =
  'Jobs cannot be submitted, stopped or restarted until the store recovers. Running ranks ' +
  'continue, and no acknowledged request is lost.';
