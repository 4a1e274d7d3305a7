// The data sets of a job, with links to the jobs that make and read them.
import type { Job, ReportedDataSet } from '../api/types';
import { count, plural } from '../format/numbers';
import { Link } from '../router/router';
import { Empty } from '../ui/notice';
import { LinkedJobs } from '../job/linked_jobs';
import { Figures, Panel } from './figures';

const COLUMNS = ['Data set', 'Checksum', 'Tokens'];

export function DataSets({ sets }: { sets: readonly ReportedDataSet[] }) {
  if (sets.length === 0) return null;
  const areInputs = sets.some((set) => set.is_input);
  const head = [...COLUMNS, areInputs ? 'Made by' : 'Trained on by'];
  return (
    <Panel title="Data sets" note="jobs are linked by the checksum of the training tokens">
      <Figures label="Data sets" head={head} right={2}>
        {sets.map((set) => (
          <tr key={set.path}>
            <th scope="row" class="path">
              {set.path}
            </th>
            <td>{set.xxh64 && <code>{set.xxh64}</code>}</td>
            <td>{count(set.tokens)}</td>
            <td>
              <LinkedJobs set={set} />
            </td>
          </tr>
        ))}
      </Figures>
    </Panel>
  );
}

// The tab of a training job. `sets` is empty until the job has started.
export function TrainingData({ job, sets }: { job: Job; sets: readonly ReportedDataSet[] }) {
  if (sets.length === 0) {
    return (
      <Empty title="No data sets reported yet">
        A training job reports its data sets when it starts.
      </Empty>
    );
  }
  return (
    <div class="dataset">
      <p class="faint">
        {plural(sets.length, 'data set')} of {job.name}. A click in a chart of{' '}
        <Link href={`/jobs/${job.id}`}>Curves</Link> offers the documents of this step.
      </p>
      <DataSets sets={sets} />
    </div>
  );
}
