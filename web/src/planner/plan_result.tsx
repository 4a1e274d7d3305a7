// Shows a plan: its layout with ranks, memory, time and cost, and the rejected layouts.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { PlanLayoutResponse } from '../api/types';
import { ABSENT, count, gigabytes, percent, plural, short } from '../format/numbers';
import { duration, preciseSeconds } from '../format/time';
import { withCode } from '../ui/code_text';
import { CommandLine } from '../ui/copy';
import { Figure } from '../ui/figure';
import { Icon } from '../ui/icon';
import { StackedBar } from '../ui/stacked_bar';
import { Table, type Column } from '../ui/table';
import { GoodputPlot } from './goodput_plot';
import { LossCard } from './loss_card';
import { costRange, memoryParts, stepParts } from './plan_parts';
import { PlannedRankMap } from './rank_map';
import { TradeoffPlot, type TradeoffPoint } from './tradeoff_plot';

const SECONDS_OF_DAY = 86_400;

// Number of layouts shown before the user requests more.
const LAYOUTS_SHOWN = 10;

const days = (value: number | undefined) =>
  value === undefined ? ABSENT : duration(value * SECONDS_OF_DAY);
// Formats the lowest and highest price as "$2.50–3.50", or as one number if they are equal.
const range = ([low = 0, high = low]: readonly number[], words: (value: number) => string) =>
  low === high ? `$${words(low)}` : `$${words(low)}–${words(high)}`;

interface PlanProps {
  plan: PlanLayoutResponse;
}

function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      {children}
    </section>
  );
}

export function Figures({ plan }: PlanProps) {
  const { cluster, step, memory } = plan;
  const rate = plan.tokens_per_second as number;
  const cost = costRange(plan);
  return (
    <dl class="figures plan-figures">
      <Figure
        name="Tokens/s"
        value={short(rate)}
        note={`${short(rate / (cluster?.devices ?? 1))} per GPU`}
      />
      <Figure name="MFU" value={percent(plan.mfu as number)} note="attention included" />
      <Figure
        name="Step"
        value={preciseSeconds(step?.step_seconds as number)}
        note={`${count(plan.run?.steps)} steps`}
      />
      <Figure
        name="Memory per GPU"
        value={gigabytes(memory?.total_bytes)}
        note={`of ${gigabytes(cluster?.device_bytes)}`}
      />
      <Figure
        name="Training time"
        value={days(plan.days as number)}
        note={`for ${short(plan.tokens)} tokens`}
      />
      <Figure
        name="Cost"
        value={cost ? `$${short(cost[0])}` : ABSENT}
        note={
          cost && cost[1] > cost[0]
            ? `to $${short(cost[1])}, depending on price`
            : 'training steps only'
        }
      />
    </dl>
  );
}

export function LayoutCard({ plan }: PlanProps) {
  const { cluster, run } = plan;
  return (
    <Card title="Layout">
      <CommandLine text={`layout: ${plan.layout_text ?? ''}`} />
      <p class="faint plan-facts">
        {short(run?.parameters)} parameters on {plural(cluster?.nodes ?? 0, 'node')} of{' '}
        {cluster?.per_node} {cluster?.device} ({cluster?.node_link}
        {(cluster?.nodes ?? 0) > 1 && `; ${cluster?.network}`}), {count(run?.global_batch)} samples
        of {count(run?.seq_length)} tokens per step
      </p>
      {plan.warnings.length > 0 && (
        <div class="findings">
          <p class="tone-warn">
            <Icon name="warn" /> Submit would reject this job
          </p>
          <ul>
            {plan.warnings.map((warning) => (
              <li key={warning}>{withCode(warning)}</li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}

function stageWords({ stages }: PlanLayoutResponse, stage: number): string {
  const place = stages[stage];
  if (!place) return '';
  return `stage ${stage}, ranks ${place.first_rank} to ${place.last_rank}`;
}

export function MemoryCard({ plan }: PlanProps) {
  const { memory, cluster } = plan;
  if (!memory || !cluster) return null;
  return (
    <Card title="Memory of the fullest GPU">
      <p class="faint">{stageWords(plan, memory.stage)}</p>
      <StackedBar
        label="Memory by part"
        parts={memoryParts(memory)}
        width={cluster.device_bytes}
        limit={{ value: cluster.plannable_bytes, name: 'Planning limit' }}
        words={gigabytes}
      />
    </Card>
  );
}

export function StepCard({ plan }: PlanProps) {
  const { step } = plan;
  if (!step) return null;
  return (
    <Card title="Step time">
      <p class="faint">{stageWords(plan, step.stage)} (the most work)</p>
      <StackedBar label="Time by part" parts={stepParts(step)} words={preciseSeconds} />
    </Card>
  );
}

function CostCard({ plan }: PlanProps) {
  const { failures, costs } = plan;
  return (
    <Card title="Time and cost">
      <table class="stacked-table">
        <caption class="hidden">Cost by price</caption>
        <tbody>
          {costs.map(({ cloud, dollars_per_gpu_hour: rate, dollars: sum, date, source }) => (
            <tr key={cloud} title={`Price on ${date}, from ${source}`}>
              <th scope="row">{cloud}</th>
              <td>{range(sum as number[], short)}</td>
              <td class="faint">
                {range(rate as number[], (one) => one.toFixed(2))} per hour, {date}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {costs.length === 0 && (
        <p>No price is known for this GPU. Enter “Dollars per GPU-hour”.</p>
      )}
      {failures && (
        <p class="faint plan-facts">
          {short(plan.device_hours as number)} GPU-hours for training steps only. With about{' '}
          {short(failures.failures as number)} failures and a checkpoint every{' '}
          {duration(failures.checkpoint_interval_seconds as number)}:{' '}
          {days(failures.days as number)}, {short(failures.device_hours as number)} GPU-hours,
          goodput {percent(failures.goodput as number)}.
        </p>
      )}
      {failures && <GoodputPlot failures={failures} />}
    </Card>
  );
}

type Alternative = PlanLayoutResponse['pareto'][number];

const tradeoffPoint = ({ layout_text: name, step, memory }: Alternative): TradeoffPoint => ({
  name,
  bytes: memory?.total_bytes ?? 0,
  seconds: (step?.step_seconds as number) ?? 0,
});

function AlternativesCard({ plan }: PlanProps) {
  const [all, setAll] = useState(false);
  const shown = all ? plan.pareto : plan.pareto.slice(0, LAYOUTS_SHOWN);
  const fastest = plan.step?.step_seconds as number;
  const seconds = ({ step }: Alternative) => step?.step_seconds as number;
  const columns: Column<Alternative>[] = [
    { name: 'Layout', cell: ({ layout_text: text }) => <code title={text}>{text}</code> },
    { name: 'Step', width: '84px', right: true, cell: (one) => preciseSeconds(seconds(one)) },
    {
      name: 'Slower',
      width: '80px',
      right: true,
      priority: 2,
      cell: (one) => (one === plan.pareto[0] ? 'best' : percent(seconds(one) / fastest - 1)),
    },
    {
      name: 'Memory',
      width: '90px',
      right: true,
      cell: ({ memory }) => gigabytes(memory?.total_bytes),
    },
  ];
  return (
    <Card title="Layouts that trade time for memory">
      {plan.pareto.length > 1 && <TradeoffPlot points={plan.pareto.map(tradeoffPoint)} />}
      <Table
        label="Layouts by time and memory"
        columns={columns}
        rows={shown}
        total={plan.pareto.length}
        rowKey={({ layout_text: text }) => text}
      />
      {shown.length < plan.pareto.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {plan.pareto.length}
        </button>
      )}
    </Card>
  );
}

export function RejectedCard({ plan }: PlanProps) {
  return (
    <Card title="Why other layouts were not chosen">
      <p class="faint">{count(plan.layouts_tried)} layouts evaluated</p>
      <table class="stacked-table">
        <caption class="hidden">Layouts by reason</caption>
        <tbody>
          {plan.not_chosen.map(({ reason, layouts }) => (
            <tr key={reason}>
              <th scope="row">{reason}</th>
              <td>{count(layouts)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

// Shown if no layout fits: what is missing, and which cluster would suffice. `onNodes`: called if
// the user asks for a plan for that cluster; undefined: the user cannot ask.
export function NoLayout({
  plan,
  onNodes,
}: PlanProps & { onNodes?: (nodes: number) => void }) {
  const nodes = plan.fewest_nodes;
  return (
    <>
      <div class="failure" role="alert">
        <Icon name="warn" />
        <div>
          <p>{withCode(plan.problem ?? '')}</p>
          <p class="faint">{withCode(plan.advice ?? '')}</p>
        </div>
        {nodes !== undefined && onNodes && (
          <button type="button" onClick={() => onNodes(nodes)}>
            Plan for {plural(nodes, 'node')}
          </button>
        )}
      </div>
      {plan.not_chosen.length > 0 && <RejectedCard plan={plan} />}
    </>
  );
}

export function PlanResult({ plan }: PlanProps) {
  return (
    <>
      <Figures plan={plan} />
      <LayoutCard plan={plan} />
      <div class="plan-cards">
        <MemoryCard plan={plan} />
        <StepCard plan={plan} />
      </div>
      <Card title="Ranks">
        <PlannedRankMap plan={plan} />
      </Card>
      <div class="plan-cards">
        <CostCard plan={plan} />
        {plan.loss ? <LossCard loss={plan.loss} /> : <RejectedCard plan={plan} />}
      </div>
      {plan.loss && <RejectedCard plan={plan} />}
      <AlternativesCard plan={plan} />
    </>
  );
}
