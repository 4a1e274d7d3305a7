// Parallel coordinates: one vertical axis per setting and one for the result, one line per run.
import { runColorName } from '../chart/colors';
import { useWidth } from '../ui/width';
import { pathThrough } from './parallel_path';
import { shortened, type PlotAxis } from './plot_axes';
import type { RunPlotProps } from './scatter_plot';

// Width until the plot is measured, and the minimum width of an axis.
const WIDTH = 900;
const AXIS_PX = 112;
const HEIGHT = 300;
const SIDE = 60;
const TOP = 48;
const BOTTOM = 14;

const up = (place: number) => HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM);

// Returns the section and the key of a setting such as "optimizer.lr"; names of results have no
// section.
function partsOf(name: string): [string, string] {
  const dot = name.indexOf('.');
  return dot < 0 ? ['', name] : [name.slice(0, dot), name.slice(dot + 1)];
}

function Axis({ axis, x }: { axis: PlotAxis; x: number }) {
  const [section, key] = partsOf(axis.name);
  return (
    <g>
      <title>{axis.name}</title>
      <text x={x} y={14} text-anchor="middle">
        {shortened(section)}
      </text>
      <text x={x} y={30} text-anchor="middle" class="axis-name">
        {shortened(key)}
      </text>
      <line x1={x} x2={x} y1={TOP} y2={HEIGHT - BOTTOM} />
      {axis.scale?.marks.map(({ place, name }) => (
        <text key={name} x={x - 6} y={up(place) + 4} text-anchor="end">
          {name}
        </text>
      ))}
    </g>
  );
}

function RunLine({
  places,
  across,
}: {
  places: readonly (number | undefined)[];
  across: (axis: number) => number;
}) {
  return (
    <>
      <path d={pathThrough(places, across, up)} />
      {places.map(
        (place, axis) =>
          place !== undefined && <circle key={axis} cx={across(axis)} cy={up(place)} r={3} />,
      )}
    </>
  );
}

interface ParallelPlotProps extends RunPlotProps {
  settings: readonly PlotAxis[];
  result: PlotAxis;
}

export function ParallelPlot(props: ParallelPlotProps) {
  const { settings, result, names, colors, picked, onPick } = props;
  const { host, width: available } = useWidth<HTMLDivElement>(WIDTH);
  const axes = [...settings, result];
  const width = Math.max(available, axes.length * AXIS_PX);
  const across = (axis: number) =>
    SIDE + (axis * (width - 2 * SIDE)) / Math.max(1, axes.length - 1);
  const placesOf = (run: number) =>
    axes.map(({ values, scale }) => {
      const value = values[run];
      return value === undefined ? undefined : scale?.placeOf(value);
    });
  // SVG draws later elements on top.
  const order = names
    .map((_, run) => run)
    .sort((a, b) => Number(a === picked) - Number(b === picked));
  return (
    <div ref={host} class="wide-plot" role="region" aria-label="Parallel coordinates" tabIndex={0}>
      <svg
        class={`plot parallel ${picked === undefined ? '' : 'has-picked'}`}
        style={{ width: `${width}px` }}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`${axes.map(({ name }) => name).join(', ')}: one line per run`}
      >
        {order.map((run) => (
          <g
            key={run}
            class={`${runColorName(colors[run] ?? run)} ${run === picked ? 'picked' : ''}`}
            onMouseEnter={() => onPick(run)}
            onMouseLeave={() => onPick(undefined)}
          >
            <title>
              {names[run]}: {result.name} {result.texts[run]}
            </title>
            <RunLine places={placesOf(run)} across={across} />
          </g>
        ))}
        {axes.map((axis, index) => (
          <Axis key={axis.name} axis={axis} x={across(index)} />
        ))}
      </svg>
    </div>
  );
}
