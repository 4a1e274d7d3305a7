// One attempt in the timeline of a job, or a group of attempts that failed in the same way.
import { nodeName, serverNow } from '../api/store';
import type { Attempt, Verdict } from '../api/types';
import { count, plural } from '../format/numbers';
import { rateChangeText } from '../format/rate_change';
import { clockTime, duration, fullTime } from '../format/time';
import type { Tone } from '../format/words';
import { Badge } from '../ui/badge';
import { attemptLook } from './attempt_look';
import { stepBefore } from './attempt_steps';
import { failureWords } from './fold_attempts';
import { grantedText } from './granted_layout';

interface AttemptProps {
  attempt: Attempt;
  names: Readonly<Record<string, string>>;
}

function nodesOf(attempt: Attempt, names: Readonly<Record<string, string>>): string {
  const ids = [...new Set(attempt.ranks.map(({ node_id: id }) => id))];
  const shown = ids
    .slice(0, 4)
    .map((id) => nodeName(id, names))
    .join(', ');
  return ids.length > 4 ? `${shown} and ${ids.length - 4} more` : shown;
}

function VerdictText({ attempt, names }: AttemptProps) {
  const { verdict } = attempt;
  if (!verdict || verdict.cause === 'completed') return null;
  const rank = verdict.rank >= 0 && verdict.cause !== 'stopped' ? `rank ${verdict.rank}` : '';
  const node = verdict.node_id ? `on ${nodeName(verdict.node_id, names)}` : '';
  // The rank is left out if the summary already names the rank, as most summaries do.
  const culprit = rank && verdict.summary.includes(rank) ? '' : `${rank} ${node}`.trim();
  return (
    <div class="verdict">
      <p>
        {verdict.summary}
        {culprit && <span class="faint"> First failure: {culprit}.</span>}
      </p>
      {verdict.stacks && (
        <details>
          <summary>Thread stacks when the rank stalled</summary>
          <pre tabIndex={0}>{verdict.stacks}</pre>
        </details>
      )}
      {verdict.log_tail && (
        <details>
          <summary>Last lines of output</summary>
          <pre tabIndex={0}>{verdict.log_tail}</pre>
        </details>
      )}
    </div>
  );
}

// The step of a checkpoint of another program is not known before the first reports.
const startWords = ({ resume_from: path }: Attempt) => (path ? 'a checkpoint' : 'the start');

export function AttemptRow({ attempt, names }: AttemptProps) {
  const end = attempt.ended_time_ms || serverNow.value;
  const begin = attempt.placed_time_ms;
  const from = stepBefore(attempt);
  const steps = Math.max(0, attempt.last_step - from);
  const tone: Tone = attemptLook(attempt).tone;
  return (
    <li class={`attempt tone-${tone}`}>
      <div class="attempt-head">
        <h3>Attempt {attempt.number}</h3>
        <Badge look={attemptLook(attempt)} />
        <p class="facts">
          <time title={fullTime(begin)}>{clockTime(begin, serverNow.value)}</time>
          <span>{duration((end - begin) / 1000)}</span>
          <span>
            {from > 0 ? `from step ${count(from)} ` : `from ${startWords(attempt)} `}
            to {count(attempt.last_step)} ({plural(steps, 'step')})
          </span>
          {attempt.layout && <span>layout chosen: {grantedText(attempt.layout)}</span>}
          {attempt.ranks.length > 0 && (
            <span>
              {plural(attempt.ranks.length, 'rank')} on {nodesOf(attempt, names)}
            </span>
          )}
        </p>
      </div>
      {attempt.rate_change && <p class="tone-warn">{rateChangeText(attempt.rate_change)}</p>}
      <VerdictText attempt={attempt} names={names} />
    </li>
  );
}

// `attempts`: newest first. Their verdicts differ only in the rank, so the newest verdict is shown.
export function EqualAttempts({
  attempts,
  names,
}: {
  attempts: readonly Attempt[];
  names: AttemptProps['names'];
}) {
  const [newest, oldest] = [attempts[0] as Attempt, attempts.at(-1) as Attempt];
  const verdict = newest.verdict as Verdict;
  const words = `${attempts.length} × ${failureWords(verdict)}`;
  const seconds = (newest.ended_time_ms - oldest.placed_time_ms) / 1000;
  return (
    <li class="attempt tone-bad">
      <div class="attempt-head">
        <h3>
          Attempts {oldest.number} to {newest.number}
        </h3>
        <Badge look={{ word: words, tone: 'bad', icon: 'cross' }} />
        <p class="facts">
          <time title={fullTime(oldest.placed_time_ms)}>
            {clockTime(oldest.placed_time_ms, serverNow.value)}
          </time>
          <span>{duration(seconds)}</span>
          <span>
            from step {count(stepBefore(oldest))} to {count(newest.last_step)}
          </span>
        </p>
      </div>
      <div class="verdict">
        <p>{verdict.summary}</p>
        <details>
          <summary>All {attempts.length} attempts</summary>
          <ol class="attempts equal">
            {attempts.map((attempt) => (
              <AttemptRow key={attempt.number} attempt={attempt} names={names} />
            ))}
          </ol>
        </details>
      </div>
    </li>
  );
}
