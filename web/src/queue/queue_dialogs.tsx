// Creates, changes and deletes queues.
import { useState } from 'preact/hooks';
import { RequestError, deleteJson, getJson, postJson } from '../api/client';
import type { ListQueuesResponse, Queue } from '../api/types';
import { Confirm } from '../ui/confirm';
import { Field } from '../ui/field';
import {
  KINDS,
  LIMITS,
  PATTERNS,
  canSend,
  changedQueue,
  draftOf,
  problemIn,
  queueCommand,
  queueOf,
  type Draft,
  type FieldName,
} from './queue_form';

const pathOf = (name: string) => `/queues/${encodeURIComponent(name)}`;

// Sends all settings, because POST replaces the queue.
async function write(draft: Draft, before: Draft): Promise<void> {
  const { queues } = await getJson<ListQueuesResponse>('/queues', { limit: 1 });
  const name = draft.name.trim();
  const present = queues.find(({ queue }) => queue?.name === name)?.queue;
  if (!before.name && present) {
    throw new RequestError(`The queue name ${name} is taken. Change that queue instead.`, 409);
  }
  if (before.name && !present) throw new RequestError(`The queue ${name} was deleted.`, 404);
  const { name: _, ...settings } = present
    ? changedQueue(present, draft, before)
    : queueOf(draft);
  await postJson(pathOf(name), { queue: settings });
}

interface QueueDialogProps {
  // The queue to change; undefined: a new queue.
  queue: Queue | undefined;
  onClose: () => void;
}

export function QueueDialog({ queue, onClose }: QueueDialogProps) {
  const [before] = useState(() => draftOf(queue));
  const [draft, setDraft] = useState(before);
  return (
    <Confirm
      title={queue ? `Settings of the queue ${queue.name}` : 'New queue'}
      text={
        'Jobs of a higher tier start first. The queues of a tier share the slots over time, in ' +
        'proportion to their shares.'
      }
      commandLine={queueCommand(draft, before)}
      button={queue ? 'Save settings' : 'Create queue'}
      ready={canSend(draft)}
      fields={PATTERNS}
      onClose={onClose}
      act={async () => {
        await write(draft, before);
        const done = queue ? 'has the new settings' : 'was created';
        return [`The queue ${draft.name.trim()} ${done}.`];
      }}
    >
      {(problemAt) => {
        const field = (name: FieldName, label: string) => (
          <Field
            label={label}
            value={draft[name]}
            inputMode={name === 'name' ? 'text' : 'numeric'}
            autofocus={name === (queue ? 'shares' : 'name')}
            problem={problemIn(name, draft[name]) ?? problemAt(name)}
            onText={(text) => setDraft({ ...draft, [name]: text })}
          />
        );
        return (
          <>
            {!queue && field('name', 'Name')}
            <div class="field-row">
              {field('shares', 'Shares')}
              {field('tier', 'Tier, from -100 to 100')}
            </div>
            {KINDS.map((kind) => (
              <fieldset key={kind} class="field-row">
                <legend>{kind.toUpperCase()} slots (empty: no limit)</legend>
                {LIMITS.map(([limit, , label]) => field(`${kind} ${limit}`, label))}
              </fieldset>
            ))}
            <p class="faint">
              Below its nominal slots, the queue precedes queues that borrow free slots. The queue
              and each of its users never exceed the other limits.
            </p>
          </>
        );
      }}
    </Confirm>
  );
}

export function DeleteQueueDialog({ name, onClose }: { name: string; onClose: () => void }) {
  return (
    <Confirm
      title={`Delete the queue ${name}?`}
      text="Its settings are lost. A queue with jobs that have not ended cannot be deleted."
      commandLine={`trainyard queue delete ${name}`}
      button="Delete queue"
      danger
      onClose={onClose}
      act={async () => {
        await deleteJson(pathOf(name));
        return [`The queue ${name} was deleted.`];
      }}
    />
  );
}
