// The origin of a data set: the plan, settings and time of each step.
import { bytes, count } from '../format/numbers';
import { duration, preciseSeconds } from '../format/time';
import { Figures, Panel } from './figures';
import type { Report, SlowBlock, Step } from './report';

const PLAN_DIGITS = 12;

function SlowestBlock({ block, step }: { block: SlowBlock; step: Step }) {
  const mean = step.blocks > 0 ? step.seconds / step.blocks : 0;
  return (
    <span title={`${block.file}, ${bytes(block.bytes)} from byte ${count(block.begin)}`}>
      {preciseSeconds(block.seconds)}
      {mean > 0 && <span class="faint"> ({(block.seconds / mean).toFixed(1)} × mean)</span>}
    </span>
  );
}

function StepRow({ step }: { step: Step }) {
  const { run, seconds } = step;
  const slowest = run?.slowest[0];
  return (
    <tr>
      <th scope="row">
        {step.name}
        {!step.complete && <span class="tone-warn"> unfinished</span>}
      </th>
      <td class="path">{step.plan ? <code>{step.plan.slice(0, PLAN_DIGITS)}</code> : step.kind}</td>
      <td class="path">
        {step.settings.map(([key, value]) => (
          <span key={key} class="setting">
            {key}: {value}
          </span>
        ))}
      </td>
      <td>{run && duration(seconds)}</td>
      <td>{run && seconds > 0 && `${bytes(run.bytesIn / seconds)}/s`}</td>
      <td>{slowest && <SlowestBlock block={slowest} step={step} />}</td>
      <td>{step.badLines > 0 && count(step.badLines)}</td>
    </tr>
  );
}

export function Provenance({ report: { steps } }: { report: Report }) {
  const head = [
    'Step',
    'Plan',
    'Settings',
    'Thread time',
    'Per thread',
    'Slowest block',
    'Bad lines',
  ];
  const tokens = steps.findLast((step) => step.tokens)?.tokens;
  return (
    <Panel title="Provenance" note={tokens && `tokenizer fingerprint ${tokens.fingerprint}`}>
      <Figures label="Provenance" head={head} right={3}>
        {steps.map((step) => (
          <StepRow key={step.directory} step={step} />
        ))}
      </Figures>
    </Panel>
  );
}
