// The result of the controller's check of a job file: its errors, or where the job would run.
import type { RequestError } from '../api/client';
import type { PlanJobResponse } from '../api/types';
import { plural } from '../format/numbers';
import { preciseSeconds } from '../format/time';
import { distanceText } from '../planner/distance_text';
import { withCode } from '../ui/code_text';
import { Icon } from '../ui/icon';
import { Failure } from '../ui/notice';
import type { FileError } from './job_text';

export interface CheckPanelProps {
  id: string;
  errors: readonly FileError[];
  // An error of the request, such as a lost connection.
  failure: RequestError | undefined;
  plan: PlanJobResponse | undefined;
  onPlace: (error: FileError) => void;
}

function Errors({ errors, onPlace }: Pick<CheckPanelProps, 'errors' | 'onPlace'>) {
  return (
    <ul class="file-errors">
      {errors.map((error) => (
        <li key={`${error.line}:${error.column}:${error.text}`}>
          {error.line !== undefined && (
            <button type="button" class="quiet" onClick={() => onPlace(error)}>
              Line {error.line}
            </button>
          )}
          <span class="tone-bad">{withCode(error.text)}</span>
        </li>
      ))}
    </ul>
  );
}

function placeText(plan: PlanJobResponse): string {
  const { ranks, pending, node_names: names } = plan;
  if (!plan.starts_now) return pending?.message ?? 'The job would wait in the queue.';
  const nodes = [...new Set(ranks.map(({ node_id: id }) => names[id] ?? id))];
  const shown = nodes.slice(0, 4).join(', ') + (nodes.length > 4 ? ', …' : '');
  return `Starts at once: ${plural(ranks.length, 'rank')} on ${shown}.`;
}

// The distances between the ranks on these nodes. Empty without a topology.
function Distances({ plan }: { plan: PlanJobResponse }) {
  const { axis_distances: distances, step_seconds: step } = plan;
  if (distances.length === 0) return null;
  return (
    <ul class="faint" aria-label="Distances between ranks">
      {distances.map((distance) => (
        <li key={distance.axis}>{distanceText(distance)}</li>
      ))}
      {step !== undefined && (
        <li>Predicted step time on these nodes: {preciseSeconds(step as number)}</li>
      )}
    </ul>
  );
}

function Valid({ plan }: { plan: PlanJobResponse }) {
  return (
    <>
      {plan.warnings.map((warning) => (
        <p key={warning} class="reason tone-warn">
          <Icon name="warn" />
          <span>{withCode(warning)}</span>
        </p>
      ))}
      {plan.warnings.length === 0 && (
        <p class="reason tone-good">
          <Icon name="check" />
          <span>The job file is valid.</span>
        </p>
      )}
      <p class="faint">{withCode(placeText(plan))}</p>
      <Distances plan={plan} />
    </>
  );
}

// Keeps its height while a check runs, so that the page does not move while the user types.
export function CheckPanel({ id, errors, failure, plan, onPlace }: CheckPanelProps) {
  return (
    <div id={id} class="check-panel" role="status">
      {failure && <Failure error={failure} />}
      {errors.length > 0 && <Errors errors={errors} onPlace={onPlace} />}
      {!failure && errors.length === 0 && plan && <Valid plan={plan} />}
      {!failure && errors.length === 0 && !plan && <p class="faint">Checking the job file…</p>}
    </div>
  );
}
