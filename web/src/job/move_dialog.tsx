// Moves a job to another queue, or changes its priority.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { refreshJob } from '../api/store';
import type { Job } from '../api/types';
import { Confirm } from '../ui/confirm';
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
      onClose={onClose}
      act={async () => {
        await postJson(`/jobs/${job.id}/move`, move);
        await refreshJob();
      }}
    >
      <label class="field">
        Queue
        <input type="text" value={queue} onInput={(event) => setQueue(event.currentTarget.value)} />
      </label>
      <label class="field">
        Priority, from -1000 to 1000
        <input
          type="text"
          value={priority}
          onInput={(event) => setPriority(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  );
}
