// The findings about a running job: why it is not well, since when, who is at fault, and what to
// do.
import { serverNow } from '../api/store';
import type { HealthFinding, Job } from '../api/types';
import { plural } from '../format/numbers';
import { fullTime } from '../format/time';
import { HEALTH_LOOK, lookOf } from '../format/words';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { Badge } from '../ui/badge';
import { withCode } from '../ui/code_text';
import { isSick, ranksAtFault, sinceText } from './health';

export function RanksLink({ job, finding }: { job: Job; finding: HealthFinding }) {
  const text = ranksAtFault(finding);
  if (text === undefined) return null;
  return <Link href={`${jobPath(job.id, 'ranks')}?rank=${finding.ranks[0]}`}>{text}</Link>;
}

function Finding({ job, finding }: { job: Job; finding: HealthFinding }) {
  const since = sinceText(finding.since_ms, serverNow.value);
  return (
    <li>
      <p>
        <Badge look={lookOf(HEALTH_LOOK, finding.word)} />
        {since && <time title={fullTime(finding.since_ms)}>{since}</time>}
        <span class="finding-text">{withCode(finding.message)}</span>
        <RanksLink job={job} finding={finding} />
      </p>
      {finding.advice && <p class="faint">{withCode(finding.advice)}</p>}
    </li>
  );
}

export function Findings({ job }: { job: Job }) {
  const { findings = [], steps_at_risk: atRisk = 0 } = job.health ?? {};
  if (findings.length === 0) return null;
  return (
    <ul class="findings" aria-label="Health">
      {findings.map((finding) => (
        <Finding key={`${finding.word} ${finding.message}`} job={job} finding={finding} />
      ))}
      {isSick(job) && atRisk > 0 && (
        <li>
          <p>
            <b>{plural(atRisk, 'step')} at risk:</b>
            <span class="finding-text">no checkpoint contains them; a kill now loses them</span>
          </p>
        </li>
      )}
    </ul>
  );
}
