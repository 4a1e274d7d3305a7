// A cluster with one job for each word of health.
import type { HealthFinding, HealthWord, Job } from '../../web/src/api/types';
import { MINUTE, NOW, attempt, busyCluster, job, type Cluster } from './fixtures';

const SENTENCES: Record<Exclude<HealthWord, 'unspecified' | 'ok'>, Partial<HealthFinding>> = {
  healed: {
    message:
      'healed in place 1 time; 0 of 1 spare node left; most recently: rank 3 on gpu02 was ended ' +
      'by signal 9 (SIGKILL)',
    advice: 'the next failure restarts the job from its newest checkpoint',
    ranks: [3],
    node: 'gpu01',
  },
  slow: {
    message: 'rank 2 computes 2.9 times as long as its 4 peer ranks and holds up every step',
    advice: "`trainyard node cordon gpu02` keeps the next attempt off the rank's node",
    ranks: [2],
    node: 'gpu02',
  },
  unsaved: {
    message:
      'no checkpoint since step 80, because the checkpoint of step 120 failed: ' +
      'No space left on device',
    advice: 'free disk space in /ckpt/unsaved-run',
  },
  looping: {
    message:
      'attempts 6 to 8 failed for one cause: rank 0 on gpu03 exited with 1: KeyError: ' +
      "'input_ids'; 8 of 20 restarts within 24h are used",
    advice: '`trainyard logs 54 --tail 40` shows the last output',
    ranks: [0],
    node: 'gpu03',
  },
  diverging: {
    message: 'loss has not been finite since step 80',
    advice: 'stop the job, then submit it again from a checkpoint before that step',
  },
  stalled: {
    message:
      'rank 3 has not reached all-reduce 1380 of group shard0 (ranks 0-3); ' +
      'ranks 0-2 are waiting for it',
    advice: '`trainyard logs 56 --rank 3 --tail 20` shows its last output',
    ranks: [3],
    node: 'gpu04',
  },
};

type Finding = keyof typeof SENTENCES;
// Ordered from the best to the worst word, so that the newest job is the worst.
export const FINDINGS = Object.keys(SENTENCES) as Finding[];
export const FIRST_SICK_JOB = 51;

export function findingOf(word: Finding): HealthFinding {
  const unknown = { ranks: [], node: '', message: '', advice: '' };
  return { word, since_ms: NOW - 4 * MINUTE, ...unknown, ...SENTENCES[word] };
}

function runningJob(id: number, name: string): Job {
  return job(id, name, 'running', {
    attempts: [attempt(1, { last_step: 1380 })],
    progress: {
      step: 1380,
      total_steps: 4769,
      loss: 2.7,
      loss_step: 1380,
      tokens_per_second: 5030,
      step_seconds: 2,
      eta_seconds: 7380,
      time_ms: NOW - 2_000,
      validation_loss: 0,
      evaluations: [],
      tokens: 1380 * 512 * 8192,
      total_tokens: 4769 * 512 * 8192,
    },
    health: { word: 'ok', findings: [], steps_at_risk: 3, saved_step: 0, at_risk_since_ms: 0 },
  });
}

// Returns a job with this finding. As in the controller's messages, a stalled job has neither a
// rate nor a remaining time.
function sickJob(id: number, word: Finding): Job {
  const found = runningJob(id, `${word}-run`);
  found.health = {
    word,
    findings: [findingOf(word)],
    steps_at_risk: 1300,
    saved_step: 0,
    at_risk_since_ms: 0,
  };
  if (word === 'stalled') {
    found.health.findings.push(findingOf('slow'));
    const old = { tokens_per_second: 0, eta_seconds: 0, time_ms: NOW - 4 * MINUTE };
    Object.assign(found.progress!, old);
  }
  if (word === 'diverging') found.progress!.loss = 'NaN' as never;
  if (word === 'looping') {
    found.restarts = 8;
    found.spec!.restart = { max_restarts: 20, rules: [] };
  }
  return found;
}

// Returns a cluster with a healthy job and a job for each other word. All nodes are healthy, and
// nothing failed in the last day.
export function healthCluster(): Cluster {
  const busy = busyCluster();
  const sick = FINDINGS.map((word, index) => sickJob(FIRST_SICK_JOB + index, word));
  const ended = busy.jobs.filter(({ state }) => state === 'succeeded');
  const well = runningJob(50, 'ok-run');
  return {
    ...busy,
    jobs: [...ended, ...sick.slice(0, 3), well, ...sick.slice(3)],
    nodes: busy.nodes.slice(0, 4),
    pending: new Map(),
  };
}
