// The outcome of an attempt in one word. Pure functions.
import type { Attempt, Verdict } from '../api/types';
import { plainWords, type StateLook } from '../format/words';

interface Outcome extends Pick<Attempt, 'state' | 'stop_reason'> {
  verdict?: Pick<Verdict, 'cause'> | undefined;
}

// An attempt that was stopped at a user's request has no verdict.
function endedLook({ stop_reason: reason }: Outcome): StateLook {
  if (reason === 'paused') return { word: 'paused', tone: 'idle', icon: 'pause' };
  if (reason === 'yielded') return { word: 'yielded', tone: 'idle', icon: 'pause' };
  if (reason === 'user') return { word: 'stopped', tone: 'idle', icon: 'stop' };
  return { word: 'ended', tone: 'idle', icon: 'stop' };
}

export function attemptLook(attempt: Outcome): StateLook {
  const cause = attempt.verdict?.cause;
  if (cause === undefined || cause === 'unspecified') {
    if (attempt.state === 'ended') return endedLook(attempt);
    const running = attempt.state === 'running';
    return { word: plainWords(attempt.state), tone: 'run', icon: running ? 'play' : 'half' };
  }
  if (cause === 'completed') return { word: 'completed', tone: 'good', icon: 'check' };
  if (cause === 'stopped') return { word: 'stopped', tone: 'idle', icon: 'stop' };
  if (cause === 'time_limit') return { word: 'time limit', tone: 'idle', icon: 'stop' };
  return { word: plainWords(cause), tone: 'bad', icon: 'cross' };
}
