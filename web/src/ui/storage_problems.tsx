// Shows the controller's storage problems and warnings on every page except the overview, which
// lists them with other problems. Without this notice, a controller that cannot store events would
// look like a broken page.
import { serverNow } from '../api/store';
import type { StorageProblem } from '../api/types';
import { clockTime } from '../format/time';
import { NO_CHANGES } from '../format/words';
import { Icon } from './icon';
import { useServerInfo } from './server_info';

function ProblemNotice({ problem }: { problem: StorageProblem }) {
  return (
    <div class="failure" role="alert">
      <Icon name="warn" />
      <div>
        <p>
          Storage problem in the controller's {problem.store} store since{' '}
          {clockTime(problem.since_ms, serverNow.value)}: {problem.message}
        </p>
        {problem.store === 'events' && <p class="faint">{NO_CHANGES}</p>}
      </div>
    </div>
  );
}

export function StorageProblems() {
  const { data: server } = useServerInfo();
  return (
    <>
      {server?.storage_problems.map((problem) => (
        <ProblemNotice key={`${problem.store} ${problem.message}`} problem={problem} />
      ))}
      {server?.warnings.map((warning) => (
        <div key={warning} class="failure" role="alert">
          <Icon name="warn" />
          <p>{warning}</p>
        </div>
      ))}
    </>
  );
}
