// Shows the parts of a whole as a bar, and as a table of the same numbers.
import { runColorName } from '../chart/colors';
import { percent } from '../format/numbers';

export interface BarPart {
  name: string;
  value: number;
}

export interface StackedBarProps {
  label: string;
  parts: readonly BarPart[];
  // Value that fills the whole width. Default: the sum of the parts.
  width?: number;
  // Value to mark on the bar.
  limit?: { value: number; name: string };
  // Formats a value.
  words: (value: number) => string;
}

const sumOf = (parts: readonly BarPart[]) => parts.reduce((sum, { value }) => sum + value, 0);

export function StackedBar({ label, parts, width, limit, words }: StackedBarProps) {
  const sum = sumOf(parts);
  const whole = Math.max(width ?? sum, sum, Number.MIN_VALUE);
  const share = (value: number) => `${(100 * value) / whole}%`;
  return (
    <div class="stacked">
      <div class="stacked-bar" aria-hidden="true">
        {parts.map(({ name, value }, index) => (
          <i
            key={name}
            class={runColorName(index)}
            style={{ width: share(value) }}
            title={`${name}: ${words(value)}`}
          />
        ))}
        {limit && (
          <b style={{ left: share(limit.value) }} title={`${limit.name}: ${words(limit.value)}`} />
        )}
      </div>
      <table class="stacked-table">
        <caption class="hidden">{label}</caption>
        <tbody>
          {parts.map(({ name, value }, index) => (
            <tr key={name}>
              <th scope="row">
                <i class={`swatch ${runColorName(index)}`} aria-hidden="true" />
                {name}
              </th>
              <td>{words(value)}</td>
              <td class="faint">{percent(value / (sum || 1))}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td>{words(sum)}</td>
            <td />
          </tr>
          {limit && (
            <tr>
              <th scope="row">{limit.name}</th>
              <td>{words(limit.value)}</td>
              <td />
            </tr>
          )}
        </tfoot>
      </table>
    </div>
  );
}
