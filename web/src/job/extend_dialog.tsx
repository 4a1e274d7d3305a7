// Extends the time limit of a job.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { refreshJob } from '../api/store';
import type { Job } from '../api/types';
import { Confirm } from '../ui/confirm';
import { addedTime, timeLimitText } from './time_limit';

export function ExtendDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const [text, setText] = useState('1h');
  const by = addedTime(text);
  return (
    <Confirm
      title={`Extend ${job.name} #${job.id}?`}
      text={timeLimitText(job) ?? ''}
      commandLine={`trainyard extend ${job.id} +${by ?? '1h'}`}
      button="Extend limit"
      ready={by !== undefined}
      onClose={onClose}
      act={async () => {
        // The controller refuses the request if another user has extended the limit meanwhile.
        const extended_ms = job.time_limit_use?.extended_ms ?? 0;
        await postJson(`/jobs/${job.id}/extend`, { by, extended_ms });
        await refreshJob();
      }}
    >
      <label class="field">
        Time to add
        <input
          type="text"
          autofocus
          value={text}
          aria-invalid={by === undefined}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {by === undefined && <p class="tone-bad">Enter a time such as 30m, 2h or 1d.</p>}
    </Confirm>
  );
}
