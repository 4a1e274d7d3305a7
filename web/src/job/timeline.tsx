// Shows the attempts with their verdicts, and the job's time by phase.
import { openJob, serverNow } from '../api/store';
import type { Attempt, Job, Ledger } from '../api/types';
import { percent } from '../format/numbers';
import { clockTime, duration } from '../format/time';
import { gpuHourPrice, hours, money } from '../format/usage';
import { PHASE_WORD, plainWords } from '../format/words';
import { Link } from '../router/router';
import { weeksHref } from '../usage/usage_view';
import { EmptyState } from '../ui/notice';
import { AttemptRow, EqualAttempts } from './attempt_row';
import { noAttempt } from './empty_text';
import { foldAttempts } from './fold_attempts';
import { segmentsOf, sharesOf } from './ledger_segments';

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
  const gpuSeconds = typeof ledger.gpu_seconds === 'number' ? ledger.gpu_seconds : 0;
  const hasGpus = gpuSeconds > 0;
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
          {hasGpus && (
            <th scope="col" class="right">
              GPU-hours
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {sharesOf(ledger).map(({ phase, seconds, slotSeconds, share }) => (
          <tr key={phase}>
            <td>
              <i class={`swatch phase-${phase}`} />
              {PHASE_WORD[phase] ?? plainWords(phase)}
            </td>
            <td class="right">{duration(seconds)}</td>
            <td class="right">{percent(share)}</td>
            {hasGpus && <td class="right">{hours(slotSeconds)}</td>}
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>Wall time</td>
          <td class="right">{duration(ledger.wall_seconds as number)}</td>
          <td class="right">100 %</td>
          {hasGpus && <td class="right">{hours(gpuSeconds)}</td>}
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
          {ledger.cost && (
            <span title={gpuHourPrice(ledger.cost)}>
              cost <b>{money(ledger.cost)}</b>
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
      <p class="density">
        <Link href={weeksHref(job.id)}>Usage by week</Link>
      </p>
    </section>
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
          {foldAttempts([...job.attempts].reverse()).map((group) => {
            const newest = group[0] as Attempt;
            return group.length === 1 ? (
              <AttemptRow key={newest.number} attempt={newest} names={names} />
            ) : (
              <EqualAttempts key={newest.number} attempts={group} names={names} />
            );
          })}
        </ol>
      )}
    </div>
  );
}
