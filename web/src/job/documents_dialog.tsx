// Shows the command that lists the documents of a step. The controller reads no token files, which
// may be visible only to the nodes.
import type { Job } from '../api/types';
import { count } from '../format/numbers';
import { CommandLine } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { documentsCommandLine } from './step_documents';

export interface DocumentsDialogProps {
  job: Job;
  step: number;
  attempt: number | undefined;
  onClose: () => void;
}

export function DocumentsDialog({ job, step, attempt, onClose }: DocumentsDialogProps) {
  return (
    <Dialog title={`Documents of step ${count(step)}`} onClose={onClose}>
      <p>
        Run this command on a machine that sees the data of {job.name} #{job.id}. It lists the
        samples of the step with their documents and texts. Losses of single samples are not
        recorded.
      </p>
      <CommandLine text={documentsCommandLine(job.id, step, attempt)} />
    </Dialog>
  );
}
