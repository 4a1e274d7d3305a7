// Actions on a job. Each one has a confirmation and shows the equivalent command line.
import { useState } from 'preact/hooks';
import { asRequestError, postJson, type RequestError } from '../api/client';
import { hasEnded } from '../api/live';
import { openJob, refreshJob, stale } from '../api/store';
import type { Job, SubmitJobResponse } from '../api/types';
import { navigate } from '../router/router';
import { jobPath } from '../router/url';
import { jobSubject, useAction } from '../ui/asked_action';
import { CommandLine } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { Failure } from '../ui/notice';
import { count } from '../format/numbers';
import { newestAttempt } from './progress';
import {
  commandLineForNewJob,
  isJobName,
  newRequestId,
  resumable,
  specForNewJob,
  type NewJob,
} from './resubmit';

export interface ConfirmProps {
  title: string;
  text: string;
  commandLine: string;
  button: string;
  danger?: boolean;
  // False if the input is invalid and cannot be submitted.
  ready?: boolean;
  act: () => Promise<void>;
  onClose: () => void;
  children?: preact.ComponentChildren;
}

export function Confirm(props: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<RequestError>();
  const act = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await props.act();
      props.onClose();
    } catch (failure) {
      setError(asRequestError(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{props.text}</p>
      {props.children}
      <p class="label">Command-line equivalent</p>
      <CommandLine text={props.commandLine} />
      {error && <Failure error={error} />}
      <footer>
        <button type="button" onClick={props.onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={props.danger ? 'danger' : 'primary'}
          disabled={busy || stale.value || props.ready === false}
          onClick={() => void act()}
        >
          {busy ? 'Sending…' : props.button}
        </button>
      </footer>
    </Dialog>
  );
}

type Action = 'pause' | 'resume' | 'stop' | 'kill' | 'again';

function StopDialog({ job, kill, onClose }: { job: Job; kill: boolean; onClose: () => void }) {
  const command = kill ? 'kill' : 'stop';
  const text = kill
    ? 'Every rank receives SIGKILL immediately. Progress since the last checkpoint is lost.'
    : 'The job saves a checkpoint, then stops. “Submit again” can resume from it.';
  return (
    <Confirm
      title={`${kill ? 'Kill' : 'Stop'} ${job.name} #${job.id}?`}
      text={text}
      commandLine={`trainyard ${command} ${job.id}${kill ? ' -y' : ''}`}
      danger={kill}
      button={kill ? 'Kill job' : 'Save and stop'}
      onClose={onClose}
      act={async () => {
        await postJson(`/jobs/${job.id}/${command}`, {});
        await refreshJob();
      }}
    />
  );
}

// Pauses a job that has started, or holds a job that has not.
function PauseDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const holds = job.state === 'queued' && newestAttempt(job) === undefined;
  return (
    <Confirm
      title={`${holds ? 'Hold' : 'Pause'} ${job.name} #${job.id}?`}
      text={
        holds
          ? 'The job leaves the queue until it is resumed.'
          : 'The job saves a checkpoint and releases its slots. When you resume the job, it ' +
            'waits for free slots and continues from this checkpoint.'
      }
      commandLine={`trainyard pause ${job.id}`}
      button={holds ? 'Hold job' : 'Save and pause'}
      onClose={onClose}
      act={async () => {
        await postJson(`/jobs/${job.id}/pause`, {});
        await refreshJob();
      }}
    />
  );
}

function ResumeDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  return (
    <Confirm
      title={`Resume ${job.name} #${job.id}?`}
      text="The job returns to its place in the queue."
      commandLine={`trainyard resume ${job.id}`}
      button="Resume job"
      onClose={onClose}
      act={async () => {
        await postJson(`/jobs/${job.id}/resume`, {});
        await refreshJob();
      }}
    />
  );
}

// Shows from where the new job starts. If the old job has a checkpoint, the user can choose;
// otherwise a sentence states it.
function StartChoice({
  job,
  resumes,
  onChoose,
}: {
  job: Job;
  resumes: boolean;
  onChoose: (resumes: boolean) => void;
}) {
  const found = resumable(job);
  const began = job.spec?.checkpoint?.resume_from;
  const start = `The new job starts ${began ? `from ${began}, as this job did` : 'at step 0'}.`;
  if (!found) return <p class="begins">This job has no checkpoint. {start}</p>;
  const step = count(found.step);
  return (
    <>
      <label class="begins">
        <input
          type="checkbox"
          checked={resumes}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />{' '}
        Resume from the checkpoint at step {step}
      </label>
      <p class="faint">
        {resumes ? `The new job starts at step ${step}, from ${found.path}.` : start}
      </p>
    </>
  );
}

function ResubmitDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const [name, setName] = useState(job.name);
  // There is one id per dialog instead of one per click, because a retry after a lost response must
  // not create a second job.
  const [requestId] = useState(() => newRequestId(job.id));
  // The open job has the origin of every setting. Jobs of lists have no origins.
  const full = openJob.peek()?.job ?? job;
  const found = resumable(full);
  // A new job that resumes from a job which has completed all of its steps would have nothing to
  // train.
  const [resumes, setResumes] = useState(found !== undefined && job.state !== 'succeeded');
  const newJob: NewJob = { name, resumeFrom: found && resumes ? found.path : undefined };
  const act = async () => {
    if (!full.spec) return;
    const spec = specForNewJob(full.spec, full.origins, newJob);
    const answer = await postJson<SubmitJobResponse>('/jobs', { spec, request_id: requestId });
    if (answer.job) navigate(jobPath(answer.job.id));
  };
  return (
    <Confirm
      title={`Submit ${job.name} again?`}
      button="Submit"
      onClose={onClose}
      act={act}
      ready={isJobName(name)}
      text="Creates a job with the same settings and a new checkpoint directory."
      commandLine={commandLineForNewJob(job.id, full.origins, newJob)}
    >
      <StartChoice job={full} resumes={resumes} onChoose={setResumes} />
      <label class="field">
        Name (must not match an active job)
        <input
          type="text"
          value={name}
          aria-invalid={!isJobName(name)}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      {!isJobName(name) && (
        <p class="tone-bad">
          Use lowercase letters and digits. The characters . _ - are allowed between them.
        </p>
      )}
    </Confirm>
  );
}

export function JobActions({ job }: { job: Job }) {
  const [action, setAction] = useAction<Action>(jobSubject(job.id));
  const close = () => setAction(undefined);
  const ended = hasEnded(job);
  const pauses = ['pausing', 'paused', 'held'].includes(job.state);
  return (
    <div class="actions">
      {!ended && job.state !== 'stopping' && (
        <button
          type="button"
          disabled={stale.value}
          onClick={() => setAction(pauses ? 'resume' : 'pause')}
        >
          {pauses ? 'Resume…' : 'Pause…'}
        </button>
      )}
      {!ended && job.state !== 'stopping' && (
        <button type="button" disabled={stale.value} onClick={() => setAction('stop')}>
          Stop…
        </button>
      )}
      {!ended && (
        <button type="button" disabled={stale.value} onClick={() => setAction('kill')}>
          Kill…
        </button>
      )}
      <button type="button" disabled={stale.value} onClick={() => setAction('again')}>
        Submit again…
      </button>
      {action === 'pause' && <PauseDialog job={job} onClose={close} />}
      {action === 'resume' && <ResumeDialog job={job} onClose={close} />}
      {action === 'stop' && <StopDialog job={job} kill={false} onClose={close} />}
      {action === 'kill' && <StopDialog job={job} kill onClose={close} />}
      {action === 'again' && <ResubmitDialog job={job} onClose={close} />}
    </div>
  );
}
