// Writes a note on a step of a job.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { refreshJob } from '../api/store';
import type { Job } from '../api/types';
import { Confirm } from '../ui/confirm';
import { Field } from '../ui/field';
import { chosenStep } from './note_step';
import { canSend, draftProblem, noteCommandLine, stepOf, type Draft } from './notes';

export interface NoteDialogProps {
  job: Job;
  // The step that the form shows first.
  step: number;
  onClose: () => void;
}

export function NoteDialog({ job, step, onClose }: NoteDialogProps) {
  const [draft, setDraft] = useState<Draft>({ step: String(step), text: '' });
  const problem = draftProblem(draft);
  const isStep = stepOf(draft.step) !== undefined;
  const act = async () => {
    const body = { step: stepOf(draft.step), text: draft.text.trim() };
    await postJson(`/jobs/${job.id}/notes`, body);
    chosenStep.value = undefined;
    await refreshJob();
  };
  return (
    <Confirm
      title={`Note on ${job.name} #${job.id}`}
      button="Write note"
      text="All users see the note in the curves and the events of the job."
      commandLine={noteCommandLine(job.id, draft)}
      ready={canSend(draft)}
      onClose={onClose}
      act={act}
    >
      <Field
        label="Step"
        inputMode="numeric"
        value={draft.step}
        problem={isStep ? undefined : problem}
        onText={(step) => setDraft({ ...draft, step })}
      />
      <Field
        label="Note (one line)"
        autofocus
        value={draft.text}
        problem={isStep ? problem : undefined}
        onText={(text) => setDraft({ ...draft, text })}
      />
    </Confirm>
  );
}
