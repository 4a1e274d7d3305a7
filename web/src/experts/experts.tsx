// Shows how evenly the experts of each layer share the load: a map of one step, a table of the
// layers, and the balance over time.
import { useState } from 'preact/hooks';
import { hasEnded } from '../api/live';
import { metricsTick } from '../api/store';
import type { ExpertBalance, GetExpertsResponse, Job, RunFinding } from '../api/types';
import { count } from '../format/numbers';
import { sentence } from '../format/words';
import { AttemptChoice } from '../job/attempt_choice';
import { ownSteps, type StepRange } from '../job/attempt_steps';
import { query, setQuery } from '../router/router';
import { ordinalIn } from '../router/url';
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
  // The busiest expert of the worst layer is shown until the user chooses another expert.
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

// The state of the view, from the URL.
interface Asked {
  step: number | undefined;
  // undefined: the newest attempt at each step.
  attempt: number | undefined;
  // The steps whose records belong to the attempt.
  own: StepRange;
}

const ALL: StepRange = { first: 1, last: Infinity };
const NONE: StepRange = { first: 1, last: 0 };

function askedOf(job: Job, at: URLSearchParams): Asked {
  const attempt = ordinalIn(at, 'attempt');
  const own = attempt === undefined ? ALL : (ownSteps(job.attempts, attempt) ?? NONE);
  return { step: ordinalIn(at, 'step'), attempt, own };
}

// Explains why there is no map.
function NoRecord({ steps, asked }: { steps: readonly number[]; asked: Asked }) {
  const [first] = steps;
  const owner = asked.attempt === undefined ? 'this job' : `attempt ${asked.attempt}`;
  if (first === undefined) {
    return (
      <p class="balance-words faint">
        There is no record of {owner}. A later attempt that repeats steps replaces their records.
      </p>
    );
  }
  return (
    <p class="balance-words faint">
      There is no record of {owner} at or before step {count(asked.step ?? first)}.{' '}
      <button type="button" class="quiet" onClick={() => setQuery({ step: first })}>
        Show step {count(first)}
      </button>
    </p>
  );
}

interface BalanceProps {
  job: Job;
  data: GetExpertsResponse;
  asked: Asked;
}

function Balance({ job, data, asked }: BalanceProps) {
  const { attempt, own } = asked;
  const steps = data.steps.filter((step) => step >= own.first && step <= own.last);
  const isOwn = attempt === undefined || data.balance?.attempt === attempt;
  const balance = isOwn ? data.balance : undefined;
  return (
    <>
      {/* The controller's advice is about the newest records. */}
      {own.last === Infinity && <FindingList findings={data.findings} />}
      <section class="panel" aria-label="Load of experts">
        <header>
          <h2>Load of experts{balance && ` at step ${count(balance.step)}`}</h2>
          {balance && job.attempts.length > 1 && (
            <span class="faint">attempt {balance.attempt}</span>
          )}
          {steps.length > 0 && <StepPicker steps={steps} asked={asked.step} />}
        </header>
        {balance ? (
          <>
            <p class="balance-words">{[worstWords(balance), ...lossWords(balance)].join(' ')}</p>
            <LoadMap key={balance.experts} balance={balance} />
          </>
        ) : (
          <NoRecord steps={steps} asked={asked} />
        )}
      </section>
      <BalanceCurves job={job} />
      {balance && (
        <>
          <h2>Layers at step {count(balance.step)}</h2>
          <div class="layer-table">
            <LayerTable balance={balance} />
          </div>
        </>
      )}
    </>
  );
}

function LoadedBalance({ job, asked }: { job: Job; asked: Asked }) {
  const newest = Math.min(asked.step ?? Infinity, asked.own.last);
  // The controller returns the newest record if no step is given.
  const step = newest > 0 && newest < Infinity ? newest : undefined;
  const tick = useThrottled(metricsTick.value, PACE_MS);
  const { data, error } = useLoad<GetExpertsResponse>(
    `/jobs/${job.id}/experts`,
    { step },
    `${job.id}/${asked.attempt}`,
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
  return <Balance job={job} data={data} asked={asked} />;
}

export function Experts({ job }: { job: Job }) {
  const asked = askedOf(job, query.value);
  const numbers = job.attempts.map(({ number }) => number);
  return (
    <>
      {numbers.length > 1 && (
        <div class="tools" role="toolbar" aria-label="Expert options">
          <AttemptChoice numbers={numbers} chosen={asked.attempt} />
        </div>
      )}
      <LoadedBalance job={job} asked={asked} />
    </>
  );
}
