// Moves a job to another queue, or changes its priority.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { refreshJob } from '../api/store';
import type { Job } from '../api/types';
import { Confirm } from '../ui/confirm';
import { Field } from '../ui/field';
import { moveCommand, moveOf } from './move';

export function MoveDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const [queue, setQueue] = useState(job.queue);
  const [priority, setPriority] = useState(String(job.priority));
  const move = moveOf(job, queue, priority);
  return (
    <Confirm
      title={`Move ${job.name} #${job.id}?`}
      text="Jobs of a higher priority are placed first. A job with slots keeps its queue."
      commandLine={moveCommand(job, move)}
      button="Move job"
      ready={move !== undefined}
      fields={{ queue: /queue/ }}
      onClose={onClose}
      act={async () => {
        await postJson(`/jobs/${job.id}/move`, move);
        await refreshJob();
      }}
    >
      {(problemAt) => (
        <>
          <Field label="Queue" value={queue} problem={problemAt('queue')} onText={setQueue} />
          <Field label="Priority, from -1000 to 1000" value={priority} onText={setPriority} />
        </>
      )}
    </Confirm>
  );
}
