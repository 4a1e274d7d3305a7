// Actions on a job. Each action has a confirmation that states what is lost or kept.
import { postJson } from '../api/client';
import { hasEnded } from '../api/live';
import { refreshJob, serverNow, stale } from '../api/store';
import type { Job } from '../api/types';
import { killEffect, pauseEffect, resumeText, stopEffect } from './action_effects';
import { Confirm } from '../ui/confirm';
import { ExtendDialog } from './extend_dialog';
import { isMovable } from './move';
import { MoveDialog } from './move_dialog';
import { ResubmitDialog } from './resubmit_dialog';
import { isExtensible } from './time_limit';
import { jobSubject, useAction } from '../ui/asked_action';

type Action = 'pause' | 'resume' | 'move' | 'extend' | 'stop' | 'kill' | 'again';

interface DialogProps {
  job: Job;
  onClose: () => void;
}

function StopDialog({ job, kill, onClose }: DialogProps & { kill: boolean }) {
  const command = kill ? 'kill' : 'stop';
  const effect = (kill ? killEffect : stopEffect)(job, serverNow.value);
  return (
    <Confirm
      title={`${kill ? 'Kill' : 'Stop'} ${job.name} #${job.id}?`}
      {...effect}
      commandLine={`trainyard ${command} ${job.id}${kill ? ' -y' : ''}`}
      onClose={onClose}
      act={async () => {
        await postJson(`/jobs/${job.id}/${command}`, {});
        await refreshJob();
      }}
    />
  );
}

// Pauses a job that has started, or holds a job that has not.
function PauseDialog({ job, onClose }: DialogProps) {
  const effect = pauseEffect(job, serverNow.value);
  return (
    <Confirm
      title={`${effect.verb} ${job.name} #${job.id}?`}
      {...effect}
      commandLine={`trainyard pause ${job.id}`}
      onClose={onClose}
      act={async () => {
        await postJson(`/jobs/${job.id}/pause`, {});
        await refreshJob();
      }}
    />
  );
}

function ResumeDialog({ job, onClose }: DialogProps) {
  return (
    <Confirm
      title={`Resume ${job.name} #${job.id}?`}
      text={resumeText(job)}
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
      {isMovable(job) && (
        <button type="button" disabled={stale.value} onClick={() => setAction('move')}>
          Move…
        </button>
      )}
      {isExtensible(job) && (
        <button type="button" disabled={stale.value} onClick={() => setAction('extend')}>
          Extend…
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
      {action === 'move' && <MoveDialog job={job} onClose={close} />}
      {action === 'extend' && <ExtendDialog job={job} onClose={close} />}
      {action === 'stop' && <StopDialog job={job} kill={false} onClose={close} />}
      {action === 'kill' && <StopDialog job={job} kill onClose={close} />}
      {action === 'again' && <ResubmitDialog job={job} onClose={close} />}
    </div>
  );
}
