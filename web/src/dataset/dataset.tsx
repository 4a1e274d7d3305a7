// The data set that a data job makes: what each step kept and dropped, with texts of documents. For
// a training job, the data sets that it reads.
import { hasEnded } from '../api/live';
import { metricsTick, serverNow } from '../api/store';
import type { GetDataReportResponse, Job, ReportedDataSet } from '../api/types';
import { ago, fullTime } from '../format/time';
import { Icon } from '../ui/icon';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { useThrottled } from '../ui/throttle';
import { Clusters } from './clusters';
import { DataSets, TrainingData } from './data_sets';
import { DroppedTexts } from './dropped_texts';
import { Funnel, Lengths, Sources, TokenFiles } from './figures';
import { Provenance } from './provenance';
import { readReport, type Report } from './report';
import { TokenizedText } from './tokenized_text';
import '../styles/dataset.css';

// A job sends a report after each step, so that newer ones are rare.
const PACE_MS = 10_000;
const WAITING_PX = 640;

function Problems({ report: { steps, omitsSteps } }: { report: Report }) {
  const problems = steps.flatMap((step) => step.problems);
  if (omitsSteps) problems.push('There are more than 100 steps; only the last ones are shown.');
  if (problems.length === 0) return null;
  return (
    <ul class="findings data-problems" aria-label="Problems">
      {problems.map((problem) => (
        <li key={problem} class="tone-warn">
          <Icon name="warn" /> {problem}
        </li>
      ))}
    </ul>
  );
}

function Sections({ report, sets }: { report: Report; sets: readonly ReportedDataSet[] }) {
  return (
    <>
      <Problems report={report} />
      <DataSets sets={sets} />
      <Funnel report={report} />
      <div class="data-columns">
        <Sources report={report} />
        <Lengths report={report} />
        <TokenFiles report={report} />
      </div>
      <DroppedTexts report={report} />
      <Clusters report={report} />
      <TokenizedText report={report} />
      <Provenance report={report} />
    </>
  );
}

export function Dataset({ job }: { job: Job }) {
  const tick = useThrottled(metricsTick.value, PACE_MS);
  const { data, error } = useLoad<GetDataReportResponse>(
    `/jobs/${job.id}/data`,
    {},
    String(job.id),
    `${tick} ${job.state}`,
  );
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Skeleton rows={1} height={WAITING_PX} />;
  if (job.spec?.kind !== 'data') return <TrainingData job={job} sets={data.data_sets} />;
  if (data.report === '') {
    return (
      <Empty title={hasEnded(job) ? 'This job sent no report' : 'No report of the data set yet'}>
        A data job sends a report after each step that filters, removes duplicates or tokenizes.
      </Empty>
    );
  }
  const report = readReport(data.report);
  if (!report) {
    return (
      <Empty title="This report has an unknown format">
        Use <code>trainyard dataset {job.id} -o json</code> to read it.
      </Empty>
    );
  }
  return (
    <div class="dataset">
      <p class="faint">
        Report of attempt {data.attempt},{' '}
        <time title={fullTime(data.time_ms)}>{ago(data.time_ms, serverNow.value)}</time>, of{' '}
        <code>{report.directory}</code>
      </p>
      <Sections report={report} sets={data.data_sets} />
    </div>
  );
}
