import { hasEnded } from '../api/live';
import { serverNow } from '../api/store';
import type { GetJobResponse, Job, PendingReason } from '../api/types';
import { ABSENT, bytes, count, percent, short } from '../format/numbers';
import { ago, clockTime, duration, fullTime } from '../format/time';
import { sentence } from '../format/words';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { JobBadge } from '../ui/badge';
import { withCode } from '../ui/code_text';
import { Figure } from '../ui/figure';
import { Icon } from '../ui/icon';
import { HealthBadge } from '../ui/job_status';
import { useLoad } from '../ui/load';
import { Loss } from '../ui/loss';
import { JobActions } from './actions';
import { estimateText } from './estimate';
import { Findings } from './findings';
import { outputMember } from './gang';
import { hasFinding } from './health';
import { LineageLine } from './lineage_line';
import { lastLines } from './log_lines';
import { placeText } from './move';
import {
  figuresOf,
  newestAttempt,
  oldLossText,
  restartsText,
  shapeText,
  stepAge,
  wallSeconds,
  type Figures as JobFigures,
} from './progress';
import { ProgressBar } from './progress_bar';
import { Promises } from './promises';
import { timeLimitText } from './time_limit';

// Number of lines shown of a failed rank's output. The reason is usually in the last lines.
const LAST_LINES = 4;

// Codes of reasons that repeat the worst finding about a running job.
const HEALTH_CODES: readonly PendingReason['code'][] = [
  'stalled',
  'diverging',
  'looping',
  'no_checkpoint',
  'slow',
  'slow_rank',
];

const ESTIMATE_PACE_MS = 10_000;

// Shows when the job is expected to start. Live answers have no estimate, so it is loaded.
function Estimate({ job }: { job: Job }) {
  const path = jobPath(job.id);
  const tick = Math.floor(serverNow.value / ESTIMATE_PACE_MS);
  const { data } = useLoad<GetJobResponse>(path, {}, `${path} estimate`, tick);
  const text = data?.pending && estimateText(data.pending, serverNow.value);
  return text ? <p class="faint">{text}.</p> : null;
}

// Shows why the job is queued, has ended or is restarting.
function Reason({ response, job }: { response: GetJobResponse; job: Job }) {
  const { pending } = response;
  if (pending && hasFinding(job) && HEALTH_CODES.includes(pending.code)) return null;
  if (pending && pending.code !== 'not_pending') {
    // A running job shows a reason only if something is wrong.
    const runs = job.state === 'running';
    return (
      <>
        <p class={`reason tone-${runs ? 'warn' : 'wait'}`}>
          <Icon name={runs ? 'warn' : 'circle'} />
          <span>
            {withCode(sentence(pending.message))}
            {pending.queue_position > 0 &&
              pending.code !== 'priority' &&
              ` · position ${pending.queue_position} in the queue`}
            {pending.advice && <span class="faint"> · {withCode(pending.advice)}</span>}
          </span>
        </p>
        {job.state === 'queued' && <Estimate job={job} />}
        <Promises pending={pending} />
        {pending.others.map((other) => (
          <p key={other.code} class="faint">
            Also: {withCode(other.message)}
          </p>
        ))}
      </>
    );
  }
  // The job's verdict exists only after the job's end. Until then, the verdict of the failed
  // attempt is used.
  const verdict =
    job.verdict ?? (job.state === 'recovering' ? newestAttempt(job)?.verdict : undefined);
  if (!verdict || verdict.cause === 'completed') return null;
  const planned = verdict.cause === 'stopped' || verdict.cause === 'time_limit';
  const bad = !planned || verdict.lost_steps > 0;
  const lastOutput = bad ? lastLines(verdict.log_tail, LAST_LINES) : '';
  return (
    <>
      <p class={`reason tone-${bad ? 'bad' : 'idle'}`}>
        <Icon name={bad ? 'cross' : 'stop'} />
        <span>{verdict.summary || verdict.cause}</span>
      </p>
      {lastOutput && (
        <div class="final-output">
          <pre tabIndex={0} aria-label="Last lines of output">
            {lastOutput}
          </pre>
          <Link href={`${jobPath(job.id, 'logs')}?ranks=${outputMember(job, verdict)}`}>
            Output of rank {outputMember(job, verdict)}
          </Link>
        </div>
      )}
    </>
  );
}

function TimeLimitLine({ job }: { job: Job }) {
  const text = timeLimitText(job);
  return text ? <p class="faint">{text}</p> : null;
}

function StepAgeText({ job }: { job: Job }) {
  const age = stepAge(job);
  if (!age) return null;
  return (
    <time class={`step-age ${age.late ? 'tone-warn' : ''}`} title={fullTime(age.timeMs)}>
      {age.late && <Icon name="warn" />} reported {ago(age.timeMs, serverNow.value)}
    </time>
  );
}

function StepFigure({ job }: { job: Job }) {
  const { step, totalSteps, done } = figuresOf(job);
  return (
    <div class="figure step">
      <dt>
        Step <StepAgeText job={job} />
      </dt>
      <dd>
        {count(step)}
        {totalSteps > 0 && <span class="of"> / {count(totalSteps)}</span>}
      </dd>
      <dd class="note">
        <ProgressBar done={done} label="Progress" />
      </dd>
    </div>
  );
}

function TrainingFigures({ job, figures }: { job: Job; figures: JobFigures }) {
  const rate =
    figures.stepSeconds === undefined || !figures.isCurrent
      ? undefined
      : `${duration(figures.stepSeconds)} per step`;
  return (
    <>
      <Figure
        name="Loss"
        value={
          <>
            <Loss job={job} /> <span class="of">{oldLossText(job)}</span>
          </>
        }
        note={figures.evaluations}
      />
      <Figure
        name="Tokens"
        value={short(figures.tokens)}
        note={figures.totalTokens === undefined ? undefined : `of ${short(figures.totalTokens)}`}
      />
      <Figure name="Tokens/s" value={short(figures.tokensPerSecond)} note={rate} />
    </>
  );
}

// The figures of the current step of a pipeline.
function DataFigures({ data }: { data: NonNullable<NonNullable<Job['progress']>['data']> }) {
  const { stage, stages, documents, dropped_documents: dropped, bytes_per_second: rate } = data;
  const slowest = data.slowest_block;
  const phase = data.phase && data.phase !== 'done' ? `: ${data.phase}` : '';
  return (
    <>
      <Figure
        name="Documents"
        value={count(documents)}
        note={dropped > 0 ? `${count(dropped)} dropped` : undefined}
      />
      <Figure
        name="Input"
        value={bytes(data.bytes)}
        note={stages > 0 ? `step ${stage} of ${stages} of the pipeline${phase}` : undefined}
      />
      <Figure
        name="Input/s"
        value={typeof rate === 'number' && rate > 0 ? bytes(rate) : ABSENT}
      />
      {slowest && (
        <Figure
          name="Slowest block"
          value={typeof slowest.seconds === 'number' ? duration(slowest.seconds) : ABSENT}
          note={`block ${count(slowest.number)} on rank ${slowest.rank}`}
        />
      )}
    </>
  );
}

function Figures({ response, job }: { response: GetJobResponse; job: Job }) {
  const figures = figuresOf(job);
  const ended = hasEnded(job);
  const goodput = response.ledger?.goodput_ratio;
  // Goodput is not defined before the first attempt.
  const hasAttempts = job.attempts.length > 0;
  const ratio = typeof goodput === 'number' && hasAttempts ? goodput : undefined;
  const timeSpan = ended
    ? { name: 'Duration', value: duration(wallSeconds(job, serverNow.value)) }
    : { name: 'Time left', value: duration(figures.etaSeconds) };
  const until = serverNow.value + (figures.etaSeconds ?? 0) * 1000;
  // Shows the estimated end without seconds: slice shortens 14:03:27 to 14:03.
  const note = ended
    ? `ended ${ago(job.ended_time_ms, serverNow.value)}`
    : figures.etaSeconds === undefined
      ? undefined
      : `until about ${clockTime(until, serverNow.value).slice(0, -3)}`;
  return (
    <dl class="figures">
      <StepFigure job={job} />
      {job.progress?.data ? (
        <DataFigures data={job.progress.data} />
      ) : (
        <TrainingFigures job={job} figures={figures} />
      )}
      <Figure name={timeSpan.name} value={timeSpan.value} note={note} />
      <Figure
        name="Goodput"
        value={ratio === undefined ? ABSENT : percent(ratio)}
        note={restartsText(job)}
      />
    </dl>
  );
}

export function JobHeader({ response, job }: { response: GetJobResponse; job: Job }) {
  const attempt = newestAttempt(job);
  return (
    <header class="job-header">
      <div class="job-title">
        <h1>
          {job.name} <span class="number">#{job.id}</span>
        </h1>
        {(job.state !== 'running' || !hasFinding(job)) && (
          <JobBadge state={job.state} verdict={job.verdict} />
        )}
        {hasFinding(job) && <HealthBadge job={job} />}
        <p class="facts">
          {attempt && <span>attempt {attempt.number}</span>}
          <span>{shapeText(job)}</span>
          {job.user && <span>{job.user}</span>}
          {placeText(job) && <span>{placeText(job)}</span>}
          <time title={fullTime(job.submitted_time_ms)}>
            submitted {ago(job.submitted_time_ms, serverNow.value)}
          </time>
        </p>
        <JobActions job={job} />
      </div>
      <LineageLine job={job} />
      <Findings job={job} />
      <Reason response={response} job={job} />
      <TimeLimitLine job={job} />
      <Figures response={response} job={job} />
    </header>
  );
}
