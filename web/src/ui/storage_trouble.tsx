// Says on every page what the controller cannot store, when it changes nothing, which looks like a
// broken page; and that it was started with --insecure.
import { clock, serverNow } from '../api/store';
import type { GetServerInfoResponse, StorageProblem } from '../api/types';
import { clockTime } from '../format/time';
import { Icon } from './icon';
import { useLoad } from './load';

const ASKED_EVERY_MS = 10_000;

function Trouble({ problem }: { problem: StorageProblem }) {
  return (
    <div class="failure" role="alert">
      <Icon name="warn" />
      <div>
        <p>
          The controller has trouble with its store of {problem.store} since{' '}
          {clockTime(problem.since_ms, serverNow.value)}: {problem.message}
        </p>
        {problem.store === 'events' && (
          <p class="faint">
            Nothing can be submitted, stopped or restarted until it can store again. Ranks that run
            go on, and nothing that was acknowledged is lost.
          </p>
        )}
      </div>
    </div>
  );
}

export function StorageTrouble() {
  const tick = Math.floor(clock.value / ASKED_EVERY_MS);
  const { data } = useLoad<GetServerInfoResponse>('/server', {}, 'server', tick);
  return (
    <>
      {data?.storage_problems.map((problem) => (
        <Trouble key={`${problem.store} ${problem.message}`} problem={problem} />
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
