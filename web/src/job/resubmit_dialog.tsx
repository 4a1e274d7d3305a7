// Submits a job again, with the same settings.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { openJob } from '../api/store';
import type { Checkpoint, Job, SubmitJobResponse } from '../api/types';
import { count } from '../format/numbers';
import { navigate } from '../router/router';
import { jobPath } from '../router/url';
import { Confirm } from '../ui/confirm';
import { Field, TextArea } from '../ui/field';
import {
  cloneCommand,
  nameProblem,
  newRequestId,
  overridesOf,
  resumable,
  specForNewJob,
  type NewJob,
} from './resubmit';

// Shows from where the new job starts. If the old job has a checkpoint, the user can choose;
// otherwise a sentence states the start.
function StartChoice({
  job,
  found,
  resumes,
  onChoose,
}: {
  job: Job;
  found: Checkpoint | undefined;
  resumes: boolean;
  onChoose: (resumes: boolean) => void;
}) {
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

interface ResubmitProps {
  job: Job;
  // The checkpoint to start from. undefined: the newest checkpoint from which a job can start.
  from?: Checkpoint;
  onClose: () => void;
}

export function ResubmitDialog({ job, from, onClose }: ResubmitProps) {
  const [name, setName] = useState(job.name);
  // There is one id per dialog, not one id per click, because a retry after a lost response must
  // not create a second job.
  const [requestId] = useState(() => newRequestId(job.id));
  // The open job has the origin of every setting. Jobs of lists have no origins.
  const full = openJob.peek()?.job ?? job;
  const found = from ?? resumable(full);
  // A new job that resumes from the last step of a completed job would have nothing to train.
  const trains = from !== undefined || job.state !== 'succeeded';
  const [resumes, setResumes] = useState(found !== undefined && trains);
  const [changes, setChanges] = useState('');
  const newJob: NewJob = { name, changes, resumeFrom: found && resumes ? found.path : undefined };
  const act = async (isOpen: () => boolean) => {
    if (!full.spec) return;
    const answer = await postJson<SubmitJobResponse>('/jobs', {
      spec: specForNewJob(full.spec, full.origins),
      overrides: overridesOf(newJob),
      request_id: requestId,
      cloned_from: job.id,
    });
    if (answer.job && isOpen()) navigate(jobPath(answer.job.id));
  };
  return (
    <Confirm
      title={`Submit ${job.name} again?`}
      button="Submit"
      onClose={onClose}
      act={act}
      ready={nameProblem(name) === undefined}
      text="Creates a job with the same settings except those below. It gets its own checkpoints."
      commandLine={cloneCommand(job.id, newJob)}
      fields={{ name: /^the name `/, changes: /--set |`[\w.]+`/ }}
    >
      {(problemAt) => (
        <>
          <StartChoice job={full} found={found} resumes={resumes} onChoose={setResumes} />
          <Field
            label="Name (must not match an active job)"
            value={name}
            problem={nameProblem(name) ?? problemAt('name')}
            onText={setName}
          />
          <TextArea
            label="Changed settings, one per line"
            rows={3}
            placeholder="optimizer.lr=3e-4"
            value={changes}
            problem={problemAt('changes')}
            onText={setChanges}
          />
        </>
      )}
    </Confirm>
  );
}
