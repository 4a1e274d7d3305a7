// Extends the time limit of a job.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { refreshJob } from '../api/store';
import type { Job } from '../api/types';
import { Confirm } from '../ui/confirm';
import { Field } from '../ui/field';
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
      fields={{ by: /time to add|time limit may/ }}
      onClose={onClose}
      act={async () => {
        // The controller refuses the request if another user has extended the limit meanwhile.
        const extended_ms = job.time_limit_use?.extended_ms ?? 0;
        await postJson(`/jobs/${job.id}/extend`, { by, extended_ms });
        await refreshJob();
      }}
    >
      {(problemAt) => (
        <Field
          label="Time to add"
          autofocus
          value={text}
          problem={by === undefined ? 'Enter a time such as 30m, 2h or 1d.' : problemAt('by')}
          onText={setText}
        />
      )}
    </Confirm>
  );
}
