// The axes of plots that have one point per run. Pure functions.
import { tickText } from '../chart/axes';
import { evenScale, nameScale, sweepScale, type Scale } from '../chart/plot_scale';
import { short } from '../format/numbers';
import { valueText } from '../job/panels';
import { figureOf, type Figure, type FigureColumns } from './figures';
import { groupsOf } from './groups';
import { numberOf, type Differences } from './settings';

export interface PlotAxis {
  name: string;
  // The position of each run on the scale; undefined if the run has no value.
  values: readonly (number | undefined)[];
  // The value of each run as text.
  texts: readonly string[];
  // Undefined if no run has a value.
  scale: Scale | undefined;
}

const knownIn = (values: readonly (number | undefined)[]) =>
  values.filter((value) => value !== undefined);

const NAME_LENGTH_MAX = 20;
export const shortened = (text: string, most = NAME_LENGTH_MAX) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

// Numbers with more digits than this have a suffix, such as "1.05M".
const WHOLE_MAX = 1e5;
const settingMark = (value: number) =>
  Math.abs(value) >= WHOLE_MAX ? short(value) : String(value);

// Returns the axis of a setting. Numbers have a scale; other values are placed in their order.
export function settingAxis(key: string, { values }: Differences): PlotAxis {
  const texts = values.map((run) => run.get(key));
  const shown = texts.map((text) => text ?? 'not set');
  const numbers = texts.map(numberOf);
  const known = knownIn(numbers);
  if (known.length > 0 && texts.every((text, run) => !text || numbers[run] !== undefined)) {
    return { name: key, values: numbers, texts: shown, scale: sweepScale(known, settingMark) };
  }
  const groups = groupsOf(texts).filter(({ value }) => value !== undefined);
  const places = texts.map((text) => groups.findIndex(({ value }) => value === text));
  return {
    name: key,
    values: places.map((place) => (place < 0 ? undefined : place)),
    texts: shown,
    scale:
      groups.length > 0 ? nameScale(groups.map(({ value = '' }) => shortened(value))) : undefined,
  };
}

// Returns the smallest distance between marks whose labels differ.
const apartOf = (values: readonly number[]) =>
  Math.max(...values.map(Math.abs), Number.MIN_VALUE) * 1e-6;

// Returns the axis of a result. `columns`: the series of each run that has the result's key.
export function figureAxis(
  figure: Figure,
  columns: readonly (FigureColumns | undefined)[],
): PlotAxis {
  const values = columns.map((series) => figureOf(series, figure.kind));
  const known = knownIn(values);
  const mark = (value: number, step: number) => tickText(value, step, figure.unit);
  return {
    name: figure.name,
    values,
    texts: values.map((value) => valueText(value, figure.unit)),
    scale: known.length > 0 ? evenScale(known, mark, apartOf(known)) : undefined,
  };
}

// Returns the runs with the lowest and the highest value; undefined if fewer than two runs have a
// value.
export function extremesOf({ values }: PlotAxis): { low: number; high: number } | undefined {
  const known = values.flatMap((value, run) => (value === undefined ? [] : [{ value, run }]));
  if (known.length < 2) return undefined;
  known.sort((a, b) => a.value - b.value);
  return { low: known[0]?.run as number, high: known.at(-1)?.run as number };
}
