// How evenly the experts of each layer share the load: a map of one step, the layers in a table, and
// the balance over time.
import { useState } from 'preact/hooks';
import { hasEnded } from '../api/live';
import { metricsTick } from '../api/store';
import type { ExpertBalance, GetExpertsResponse, Job, RunFinding } from '../api/types';
import { count } from '../format/numbers';
import { sentence } from '../format/words';
import { query } from '../router/router';
import { withCode } from '../ui/code_text';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { useThrottled } from '../ui/throttle';
import {
  LOAD_BOUNDS,
  busiestExpert,
  cellWords,
  lossWords,
  rangeOfHeat,
  worstWords,
} from './balance';
import { BalanceCurves } from './balance_curves';
import { ExpertMap } from './expert_map';
import { LayerTable } from './layer_table';
import type { Cell } from './map_layout';
import { StepPicker } from './step_picker';
import '../styles/experts.css';

// Programs write records at least 5 s apart.
const PACE_MS = 5_000;
const WAITING_PX = 640;

function FindingList({ findings }: { findings: readonly RunFinding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings expert-findings" aria-label="Advice">
      {findings.map(({ what, why, change }) => (
        <li key={what}>
          <p>
            <b>{sentence(what)}:</b> <span class="finding-text">{withCode(why)}</span>
          </p>
          <p class="faint">Try: {withCode(change)}</p>
        </li>
      ))}
    </ul>
  );
}

function MapLegend() {
  return (
    <ul class="expert-legend" aria-label="Load relative to the mean of the layer">
      <li>
        <i class="no-rows" />
        no rows
      </li>
      {[...LOAD_BOUNDS, Infinity].map((_, heat) => (
        <li key={heat}>
          <i class={`heat-${heat}`} />
          {rangeOfHeat(heat)}
        </li>
      ))}
    </ul>
  );
}

function worstCell({ layers, worst_layer: worst }: ExpertBalance): Cell {
  const row = Math.max(
    0,
    layers.findIndex(({ layer }) => layer === worst),
  );
  const layer = layers[row];
  return { row, expert: (layer && busiestExpert(layer)) ?? 0 };
}

function LoadMap({ balance }: { balance: ExpertBalance }) {
  const [cell, setCell] = useState<Cell>();
  // The busiest expert of the worst layer is shown until the user chooses another one.
  const chosen = cell ?? worstCell(balance);
  const layer = balance.layers[chosen.row];
  if (balance.layers.every(({ load }) => load.length === 0)) {
    return <p class="faint">The records of this job have no loads of single experts.</p>;
  }
  return (
    <>
      <ExpertMap balance={balance} chosen={chosen} onChoose={setCell} />
      <p id="chosen-expert" class="chosen-expert" aria-live="polite">
        {layer && cellWords(layer, chosen.expert)}
      </p>
      <MapLegend />
    </>
  );
}

function Balance({ job, data }: { job: Job; data: GetExpertsResponse }) {
  const { balance, steps, findings } = data;
  if (!balance) return <p class="faint">There is no record at or before this step.</p>;
  return (
    <>
      <FindingList findings={findings} />
      <section class="panel" aria-label="Load of experts">
        <header>
          <h2>Load of experts at step {count(balance.step)}</h2>
          <StepPicker steps={steps} step={balance.step} />
        </header>
        <p class="balance-words">{[worstWords(balance), ...lossWords(balance)].join(' ')}</p>
        <LoadMap key={balance.experts} balance={balance} />
      </section>
      <BalanceCurves job={job} />
      <h2>Layers at step {count(balance.step)}</h2>
      <div class="layer-table">
        <LayerTable balance={balance} />
      </div>
    </>
  );
}

export function Experts({ job }: { job: Job }) {
  const step = Number(query.value.get('step')) || undefined;
  const tick = useThrottled(metricsTick.value, PACE_MS);
  const { data, error } = useLoad<GetExpertsResponse>(
    `/jobs/${job.id}/experts`,
    { step },
    String(job.id),
    step === undefined ? tick : 0,
  );
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Skeleton rows={1} height={WAITING_PX} />;
  if (data.steps.length === 0) {
    return (
      <Empty title={hasEnded(job) ? 'This job reported no experts' : 'No record of experts yet'}>
        The load of experts appears with the first step that the job logs.
      </Empty>
    );
  }
  return <Balance job={job} data={data} />;
}
