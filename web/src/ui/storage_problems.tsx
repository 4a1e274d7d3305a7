// Shows the controller's storage problems and warnings on every page, because otherwise a
// controller that cannot store events would look like a broken page.
import { clock, serverNow } from '../api/store';
import type { GetServerInfoResponse, StorageProblem } from '../api/types';
import { clockTime } from '../format/time';
import { Icon } from './icon';
import { useLoad } from './load';

const POLL_INTERVAL_MS = 10_000;

function ProblemNotice({ problem }: { problem: StorageProblem }) {
  return (
    <div class="failure" role="alert">
      <Icon name="warn" />
      <div>
        <p>
          Storage problem in the controller's {problem.store} store since{' '}
          {clockTime(problem.since_ms, serverNow.value)}: {problem.message}
        </p>
        {problem.store === 'events' && (
          <p class="faint">
            Jobs cannot be submitted, stopped or restarted until the store recovers. Running ranks
            continue, and no acknowledged request is lost.
          </p>
        )}
      </div>
    </div>
  );
}

export function StorageProblems() {
  const tick = Math.floor(clock.value / POLL_INTERVAL_MS);
  const { data } = useLoad<GetServerInfoResponse>('/server', {}, 'server', tick);
  return (
    <>
      {data?.storage_problems.map((problem) => (
        <ProblemNotice key={`${problem.store} ${problem.message}`} problem={problem} />
      ))}
      {data?.warnings.map((warning) => (
        <div key={warning} class="failure" role="alert">
          <Icon name="warn" />
          <p>{warning}</p>
        </div>
      ))}
    </>
  );
}
