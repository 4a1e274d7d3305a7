// Shows the command that lists the documents of a step, and the data sets of the job. The
// controller reads no token files, which may be visible only to the nodes.
import type { GetDataReportResponse, Job } from '../api/types';
import { count } from '../format/numbers';
import { CommandLine } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { useLoad } from '../ui/load';
import { LinkedJobs } from './linked_jobs';
import { documentsCommandLine } from './step_documents';

export interface DocumentsDialogProps {
  job: Job;
  step: number;
  attempt: number | undefined;
  onClose: () => void;
}

// Nothing is shown until the data sets are loaded, and if they cannot be loaded.
function DataSetList({ job }: { job: Job }) {
  const { data } = useLoad<GetDataReportResponse>(`/jobs/${job.id}/data`, {}, String(job.id));
  if (!data || data.data_sets.length === 0) return null;
  return (
    <>
      <h3>Data sets of the job</h3>
      <ul>
        {data.data_sets.map((set) => (
          <li key={set.path}>
            <code>{set.path}</code>
            {set.jobs.length > 0 && (
              <>
                , made by <LinkedJobs set={set} />
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
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
      <DataSetList job={job} />
    </Dialog>
  );
}
