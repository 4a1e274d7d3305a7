// The loss that a scaling law expects of the run, and of other sizes for as many operations.
import type { PlanLayoutResponse } from '../api/types';
import { short } from '../format/numbers';
import { PlotFrame } from './plot_frame';
import { evenScale, powerScale } from './plot_scale';

type Loss = NonNullable<PlanLayoutResponse['loss']>;

// Two decimals tell so much apart.
const LOSS_APART = 0.01;

const nats = (value: number) => value.toFixed(2);

function LossPlot({ loss }: { loss: Loss }) {
  const points = loss.by_flops.map((point) => ({
    flops: point.flops as number,
    own: point.loss as number | undefined,
    least: point.least_loss as number,
  }));
  const known = points.flatMap(({ own, least }) => (own === undefined ? [least] : [own, least]));
  const own = points.filter((point) => point.own !== undefined);
  return (
    <PlotFrame
      label="Loss by operations: of this model, and the least of any size"
      width={440}
      x={powerScale(points.map(({ flops }) => flops))}
      y={evenScale(known, nats, LOSS_APART)}
    >
      {(x, y) => (
        <>
          <polyline
            class="dashed"
            points={points.map(({ flops, least }) => `${x(flops)},${y(least)}`).join(' ')}
          />
          <polyline
            points={own.map((at) => `${x(at.flops)},${y(at.own as number)}`).join(' ')}
          />
          <circle class="best" cx={x(loss.flops as number)} cy={y(loss.loss as number)} r={6}>
            <title>
              this run: {short(loss.flops as number)} operations, loss {nats(loss.loss as number)}
            </title>
          </circle>
        </>
      )}
    </PlotFrame>
  );
}

export function LossCard({ loss }: { loss: Loss }) {
  return (
    <section class="card" aria-label="Loss by scaling law">
      <header>
        <h2>Loss by scaling law</h2>
      </header>
      <p class="plan-facts">
        Chinchilla’s law expects <strong>{nats(loss.loss as number)}</strong> nats a token. For as
        many operations {short(loss.optimal_parameters as number)} parameters on{' '}
        {short(loss.optimal_tokens as number)} tokens would reach the least,{' '}
        {nats(loss.least_loss as number)}.
      </p>
      <LossPlot loss={loss} />
      <p class="faint">
        Loss by operations (6 a parameter and token): of this model, and dashed the least of any
        size. For dense models on text; other data have other losses.
      </p>
    </section>
  );
}
