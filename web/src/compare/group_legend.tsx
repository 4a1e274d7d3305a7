// The groups of runs with their colors and the values of the metrics.
import type { Reading } from '../chart/chart';
import { RunSample } from '../chart/line_sample';
import { plural } from '../format/numbers';
import { unitOf, valueText } from '../job/panels';
import { groupName, type Group } from './groups';
import { newestOf, type Run } from './runs';

interface GroupLegendProps {
  by: string;
  groups: readonly Group[];
  runs: readonly Run[];
  metric: string;
  reading: Reading | undefined;
  means: boolean;
}

function average(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : undefined;
}

// Returns the mean of a group's runs: at the cursor or, without a cursor, of their newest values.
// If means are drawn, each group has three curves, and the third curve is the mean.
function meanOf(props: GroupLegendProps, group: Group, index: number): number | undefined {
  const { reading, means, runs, metric } = props;
  if (reading && means) return reading.values[3 * index + 2];
  if (reading) return average(group.runs.map((run) => reading.values[run]));
  return average(group.runs.map((run) => runs[run] && newestOf(runs[run], metric)));
}

export function GroupLegend(props: GroupLegendProps) {
  const { by, groups, metric, reading } = props;
  return (
    <div class="group-legend">
      <p class="faint">
        <code>{by}</code>, mean {metric} {reading ? 'at the cursor' : 'of the newest values'}
      </p>
      <ul class="line-legend" aria-label={`Groups by ${by}`}>
        {groups.map((group, index) => (
          <li key={groupName(group)}>
            <RunSample color={group.color} />
            {groupName(group)} <span class="faint">{plural(group.runs.length, 'run')}</span>{' '}
            <b>{valueText(meanOf(props, group, index), unitOf(metric))}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
