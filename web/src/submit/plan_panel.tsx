// Plans the edited job file on GPUs: layout, memory and step time.
import { useState } from 'preact/hooks';
import type {
  GetPlannerResponse,
  PlanJobResponse,
  PlanLayoutRequest,
  PlanLayoutResponse,
} from '../api/types';
import { gigabytes } from '../format/numbers';
import { preciseSeconds } from '../format/time';
import { Figures, LayoutCard, MemoryCard, NoLayout, StepCard } from '../planner/plan_result';
import { withCode } from '../ui/code_text';
import { usePost } from '../ui/load';
import { Failure, Skeleton } from '../ui/notice';

const DEFAULT_DEVICE = 'H100';

export interface PlanPanelProps {
  lists: GetPlannerResponse;
  text: string;
  // The text that the user asked to plan; undefined before the first plan.
  planned: string | undefined;
  checked: PlanJobResponse | undefined;
  onPlan: () => void;
}

interface DeviceSelectProps {
  lists: GetPlannerResponse;
  device: string;
  onDevice: (device: string) => void;
}

function DeviceSelect({ lists, device, onDevice }: DeviceSelectProps) {
  return (
    <label class="field">
      GPU
      <select value={device} onChange={(event) => onDevice(event.currentTarget.value)}>
        {lists.devices.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

// The layout that the job file sets. The job will use this layout, although the plan shows the
// fastest layout.
function WrittenLayout({ plan }: { plan: PlanLayoutResponse }) {
  const { written_layout: written, written_problem: problem } = plan;
  if (!written) return null;
  const text = `The job file sets \`layout: ${written.layout_text}\``;
  if (problem) return <p class="tone-bad">{withCode(`${text}, which cannot run: ${problem}`)}</p>;
  const step = preciseSeconds(written.step?.step_seconds as number | undefined);
  const memory = gigabytes(written.memory?.total_bytes);
  return <p>{withCode(`${text}: ${step} per step, ${memory} per GPU. The fastest layout:`)}</p>;
}

function Plan({ plan }: { plan: PlanLayoutResponse }) {
  if (!plan.layout) return <NoLayout plan={plan} />;
  return (
    <>
      <WrittenLayout plan={plan} />
      <Figures plan={plan} />
      <LayoutCard plan={plan} />
      <MemoryCard plan={plan} />
      <StepCard plan={plan} />
    </>
  );
}

export function PlanPanel({ lists, text, planned, checked, onPlan }: PlanPanelProps) {
  const [device, setDevice] = useState(lists.own_nodes[0]?.device ?? DEFAULT_DEVICE);
  const resources = checked?.spec?.resources;
  const onCpu = resources?.device === 'cpu';
  const slots = resources?.slots_per_node;
  const request: PlanLayoutRequest | undefined =
    planned === undefined || onCpu
      ? undefined
      : { job_file: planned, device, ...(slots === undefined ? {} : { per_node: slots }) };
  const answer = usePost<PlanLayoutResponse>('/planner', request, 'plan');
  return (
    <section class="plan-panel" aria-label="Plan">
      <div class="plan-head">
        <h2>Plan</h2>
        <DeviceSelect lists={lists} device={device} onDevice={setDevice} />
        <button type="button" disabled={onCpu} onClick={onPlan}>
          {planned === undefined ? 'Plan' : 'Plan again'}
        </button>
      </div>
      {onCpu && <p class="faint">The planner predicts runs on GPUs. This job runs on CPUs.</p>}
      {!onCpu && planned === undefined && (
        <p class="faint">Predicts layout, memory and step time. Ctrl-Enter plans, too.</p>
      )}
      {request && planned !== text && (
        <p class="tone-warn">The job file has changed since this plan.</p>
      )}
      <div class="plan-result" aria-live="polite" aria-busy={!!request && answer.loading}>
        {request && answer.error && <Failure error={answer.error} />}
        {request && !answer.data && !answer.error && <Skeleton rows={4} height={40} />}
        {request && !answer.error && answer.data && <Plan plan={answer.data} />}
      </div>
    </section>
  );
}
