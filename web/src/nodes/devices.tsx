// The GPUs of a node with their history as small charts.
import { serverNow } from '../api/store';
import type { DeviceHistory, Node, Slot } from '../api/types';
import { Sparkline } from '../chart/sparkline';
import { query, setQuery } from '../router/router';
import { Choice } from '../ui/choice';
import { CHART_NAMES, deviceCharts, deviceMarks, type DeviceChart } from './device_charts';

const HOURS = [
  ['1', '1 h'],
  ['6', '6 h'],
  ['24', '24 h'],
] as const;
type Hours = (typeof HOURS)[number][0];

// Returns the length of the history that the address names.
export function chosenHours(): Hours {
  const asked = query.value.get('hours');
  return HOURS.find(([hours]) => hours === asked)?.[0] ?? '24';
}

const gpuSlots = ({ inventory }: Node): Slot[] =>
  (inventory?.slots ?? []).filter(({ kind }) => kind === 'gpu');

function Marks({ device }: { device: DeviceHistory }) {
  const marks = deviceMarks(device, serverNow.value);
  return (
    <p class="device-marks">
      {marks.map(({ text, tone }) => (
        <span key={text} class={`tone-${tone}`}>
          {text}
        </span>
      ))}
      {marks.length === 0 && <span class="faint">no errors</span>}
    </p>
  );
}

function chartLabel({ name, newest, highest }: DeviceChart, slot: Slot, hours: Hours): string {
  const span = hours === '1' ? 'hour' : `${hours} hours`;
  return `${name} of GPU ${slot.index}: ${newest} now, at most ${highest} in the last ${span}`;
}

interface DeviceRowProps {
  slot: Slot;
  // Undefined while it loads, and without readings.
  device: DeviceHistory | undefined;
  loading: boolean;
  hours: Hours;
}

// The row has the same height with and without readings.
function DeviceRow({ slot, device, loading, hours }: DeviceRowProps) {
  const shown = { hours: Number(hours), nowMs: serverNow.value };
  const charts = device && deviceCharts(device, slot, shown);
  return (
    <li class="device">
      <h3>GPU {slot.index}</h3>
      {CHART_NAMES.map((name, index) => {
        const chart = charts?.[index];
        return (
          <div key={name} class="device-chart">
            <p>
              <span class="faint">{name}</span> <b>{chart?.newest ?? '—'}</b>
            </p>
            {chart && (
              <Sparkline
                values={chart.values as never}
                range={chart.range}
                color="run-1"
                label={chartLabel(chart, slot, hours)}
              />
            )}
          </div>
        );
      })}
      {device ? (
        <Marks device={device} />
      ) : (
        <p class="device-marks faint">{loading ? '' : 'no readings yet'}</p>
      )}
    </li>
  );
}

interface DevicesProps {
  node: Node;
  devices: readonly DeviceHistory[] | undefined;
}

export function Devices({ node, devices }: DevicesProps) {
  const slots = gpuSlots(node);
  const hours = chosenHours();
  if (slots.length === 0) return null;
  return (
    <section class="card devices" aria-labelledby="devices-title">
      <header>
        <h2 id="devices-title">GPUs</h2>
        <Choice
          label="History"
          value={hours}
          choices={HOURS}
          onChoose={(chosen) => setQuery({ hours: chosen === '24' ? '' : chosen })}
        />
      </header>
      <ul>
        {slots.map((slot) => (
          <DeviceRow
            key={slot.index}
            slot={slot}
            device={devices?.find(({ slot: index }) => index === slot.index)}
            loading={!devices}
            hours={hours}
          />
        ))}
      </ul>
      <p class="faint">
        One reading per minute. The history begins with the start of the controller.
      </p>
    </section>
  );
}
