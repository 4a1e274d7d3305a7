// The loss that a scaling law predicts for the run, and for models of other sizes with the same
// FLOPs.
import type { PlanLayoutResponse } from '../api/types';
import { short } from '../format/numbers';
import { PlotFrame } from '../chart/plot_frame';
import { evenScale, powerScale } from '../chart/plot_scale';

type Loss = NonNullable<PlanLayoutResponse['loss']>;

// Smallest difference visible with two decimals.
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
      label="Loss by FLOPs: this model, and the best size at each budget"
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
              this run: {short(loss.flops as number)} FLOPs, loss {nats(loss.loss as number)}
            </title>
          </circle>
        </>
      )}
    </PlotFrame>
  );
}

export function LossCard({ loss }: { loss: Loss }) {
  return (
    <section class="card" aria-label="Predicted loss">
      <header>
        <h2>Predicted loss</h2>
      </header>
      <p class="plan-facts">
        The Chinchilla scaling law predicts <strong>{nats(loss.loss as number)}</strong> nats per
        token. With the same FLOPs, {short(loss.optimal_parameters as number)} parameters on{' '}
        {short(loss.optimal_tokens as number)} tokens would reach the lowest loss,{' '}
        {nats(loss.least_loss as number)}.
      </p>
      <LossPlot loss={loss} />
      <p class="faint">
        Loss by FLOPs (6 per parameter and token): this model (solid), and the best size at each
        budget (dashed). Valid only for dense models trained on text.
      </p>
    </section>
  );
}
