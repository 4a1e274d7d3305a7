// One point per run: a setting or a result by another setting or result.
import { runColorName } from '../chart/colors';
import { PlotFrame } from '../chart/plot_frame';
import { withMargin } from '../chart/plot_scale';
import { Empty } from '../ui/notice';
import { useWidth } from '../ui/width';
import type { PlotAxis } from './plot_axes';

export interface RunPlotProps {
  // Name of each run.
  names: readonly string[];
  colors: readonly number[];
  picked: number | undefined;
  onPick: (run: number | undefined) => void;
}

// Width until the plot is measured.
const WIDTH = 900;
const MARGIN = 0.04;
const POINT_PX = 5;
const PICKED_PX = 8;

export function ScatterPlot({
  x,
  y,
  names,
  colors,
  picked,
  onPick,
}: RunPlotProps & { x: PlotAxis; y: PlotAxis }) {
  const { host, width } = useWidth<HTMLDivElement>(WIDTH);
  const runs = names
    .map((_, run) => run)
    .filter((run) => x.values[run] !== undefined && y.values[run] !== undefined);
  if (!x.scale || !y.scale || runs.length === 0) {
    return (
      <div ref={host}>
        <Empty title={`No run has both ${x.name} and ${y.name}`} />
      </div>
    );
  }
  return (
    <div ref={host}>
      <PlotFrame
        label={`${y.name} by ${x.name}, ${runs.length} runs`}
        width={width}
        x={withMargin(x.scale, MARGIN)}
        y={withMargin(y.scale, MARGIN)}
      >
        {(across, up) =>
          runs.map((run) => (
            <circle
              key={run}
              class={`${runColorName(colors[run] ?? run)} ${run === picked ? 'best' : ''}`}
              cx={across(x.values[run] as number)}
              cy={up(y.values[run] as number)}
              r={run === picked ? PICKED_PX : POINT_PX}
              onMouseEnter={() => onPick(run)}
              onMouseLeave={() => onPick(undefined)}
            >
              <title>
                {names[run]}: {y.name} {y.texts[run]}, {x.name} {x.texts[run]}
              </title>
            </circle>
          ))
        }
      </PlotFrame>
    </div>
  );
}
