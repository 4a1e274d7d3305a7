// Shows a job's attempts with their verdicts, and its time by phase.
import { nodeName, openJob, serverNow } from '../api/store';
import type { Attempt, Job, Ledger } from '../api/types';
import { count, percent, plural } from '../format/numbers';
import { clockTime, duration, fullTime } from '../format/time';
import { PHASE_WORD, plainWords, type StateLook, type Tone } from '../format/words';
import { Badge } from '../ui/badge';
import { EmptyState } from '../ui/notice';
import { noAttempt } from './empty_text';
import { grantedText } from './granted_layout';
import { segmentsOf, sharesOf } from './ledger_segments';

function attemptLook(attempt: Attempt): StateLook {
  const cause = attempt.verdict?.cause;
  if (cause === undefined || cause === 'unspecified') {
    if (attempt.state === 'ended') return { word: 'ended', tone: 'idle', icon: 'stop' };
    const running = attempt.state === 'running';
    return { word: plainWords(attempt.state), tone: 'run', icon: running ? 'play' : 'half' };
  }
  if (cause === 'completed') return { word: 'completed', tone: 'good', icon: 'check' };
  if (cause === 'stopped') return { word: 'stopped', tone: 'idle', icon: 'stop' };
  return { word: plainWords(cause), tone: 'bad', icon: 'cross' };
}

function LedgerBar({ ledger, begin, end }: { ledger: Ledger; begin: number; end: number }) {
  const lanes = segmentsOf(ledger, begin, end);
  return (
    <div class="lanes" role="img" aria-label="Job time by phase, from submission to now">
      {lanes.map((segment) => (
        <i
          key={`${segment.left}-${segment.phase}`}
          class={`phase-${segment.phase}`}
          title={`${PHASE_WORD[segment.phase]}, ${duration(segment.seconds)}`}
          style={{ left: `${segment.left * 100}%`, width: `max(1px, ${segment.width * 100}%)` }}
        />
      ))}
    </div>
  );
}

function LedgerTable({ ledger }: { ledger: Ledger }) {
  return (
    <table class="ledger">
      <thead>
        <tr>
          <th scope="col">Phase</th>
          <th scope="col" class="right">
            Time
          </th>
          <th scope="col" class="right">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {sharesOf(ledger).map(({ phase, seconds, share }) => (
          <tr key={phase}>
            <td>
              <i class={`swatch phase-${phase}`} />
              {PHASE_WORD[phase] ?? plainWords(phase)}
            </td>
            <td class="right">{duration(seconds)}</td>
            <td class="right">{percent(share)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>Wall time</td>
          <td class="right">{duration(ledger.wall_seconds as number)}</td>
          <td class="right">100 %</td>
        </tr>
      </tfoot>
    </table>
  );
}

// Shows the received ledger, with its open segment extended to the current time.
function TimeSpent({ job, ledger }: { job: Job; ledger: Ledger }) {
  const begin = job.submitted_time_ms;
  const end = job.ended_time_ms || serverNow.value;
  return (
    <section class="panel time-spent" aria-label="Time by phase">
      <header>
        <h2>Time by phase</h2>
        <p class="reading">
          {job.attempts.length > 0 && typeof ledger.goodput_ratio === 'number' && (
            <span>
              goodput <b>{percent(ledger.goodput_ratio)}</b>
            </span>
          )}
        </p>
      </header>
      <LedgerBar ledger={ledger} begin={begin} end={end} />
      <p class="lane-ends">
        <span>{clockTime(begin, serverNow.value)}</span>
        <span>{clockTime(end, serverNow.value)}</span>
      </p>
      <LedgerTable ledger={ledger} />
    </section>
  );
}

function nodesOf(attempt: Attempt, names: Readonly<Record<string, string>>): string {
  const ids = [...new Set(attempt.ranks.map(({ node_id: id }) => id))];
  const shown = ids
    .slice(0, 4)
    .map((id) => nodeName(id, names))
    .join(', ');
  return ids.length > 4 ? `${shown} and ${ids.length - 4} more` : shown;
}

function VerdictText({
  attempt,
  names,
}: {
  attempt: Attempt;
  names: Readonly<Record<string, string>>;
}) {
  const { verdict } = attempt;
  if (!verdict || verdict.cause === 'completed') return null;
  const rank = verdict.rank >= 0 && verdict.cause !== 'stopped' ? `rank ${verdict.rank}` : '';
  const node = verdict.node_id ? `on ${nodeName(verdict.node_id, names)}` : '';
  // Most summaries already name the rank; it is then left out.
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

function AttemptRow({
  attempt,
  names,
}: {
  attempt: Attempt;
  names: Readonly<Record<string, string>>;
}) {
  const end = attempt.ended_time_ms || serverNow.value;
  const begin = attempt.placed_time_ms;
  const steps = Math.max(0, attempt.last_step - attempt.resume_step);
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
            {attempt.resume_step > 0
              ? `from step ${count(attempt.resume_step)} `
              : 'from the start '}
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
      <VerdictText attempt={attempt} names={names} />
    </li>
  );
}

export function Timeline({ job }: { job: Job }) {
  const ledger = openJob.value?.ledger;
  const names = openJob.value?.node_names ?? {};
  return (
    <div class="timeline">
      {ledger && ledger.phases.length > 0 && <TimeSpent job={job} ledger={ledger} />}
      {job.attempts.length === 0 ? (
        <EmptyState words={noAttempt(job)} />
      ) : (
        <ol class="attempts">
          {[...job.attempts].reverse().map((attempt) => (
            <AttemptRow key={attempt.number} attempt={attempt} names={names} />
          ))}
        </ol>
      )}
    </div>
  );
}
