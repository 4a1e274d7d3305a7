// The axes of a plot, with grid lines and labels. The content is drawn between the axes.
import type { ComponentChildren } from 'preact';
import type { Scale } from './plot_scale';

const HEIGHT = 240;
const LEFT = 70;
const BOTTOM = 36;
const TOP = 12;
const RIGHT = 44;

// Converts a place on the y axis, from 0 to 1, to pixels.
const up = (place: number) => HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM);

interface PlotFrameProps {
  label: string; // Description of the plot for screen readers.
  width: number; // Approximate width in pixels; keeps labels at their usual size.
  x: Scale;
  y: Scale;
  children: (x: (value: number) => number, y: (value: number) => number) => ComponentChildren;
}

export function PlotFrame({ label, width, x, y, children }: PlotFrameProps) {
  const across = (place: number) => LEFT + place * (width - LEFT - RIGHT);
  return (
    <svg class="plot" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
      {y.marks.map(({ place, name }) => (
        <g key={place}>
          <line x1={LEFT} x2={width - RIGHT} y1={up(place)} y2={up(place)} />
          <text x={LEFT - 8} y={up(place) + 4} text-anchor="end">
            {name}
          </text>
        </g>
      ))}
      {x.marks.map(({ place, name }) => (
        <g key={place}>
          <line x1={across(place)} x2={across(place)} y1={TOP} y2={HEIGHT - BOTTOM} />
          <text x={across(place)} y={HEIGHT - BOTTOM + 18} text-anchor="middle">
            {name}
          </text>
        </g>
      ))}
      {children(
        (value) => across(x.placeOf(value)),
        (value) => up(y.placeOf(value)),
      )}
    </svg>
  );
}
