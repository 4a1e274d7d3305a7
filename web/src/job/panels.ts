// The panels of a job: the default ones and those that a user adds.
import type { Unit } from '../chart/axes';
import { AXES } from '../router/url';
import { bytes, measured, percent, short } from '../format/numbers';
import { duration } from '../format/time';
import { evaluationKeys, setColor, setName } from './evaluation_sets';
import { STEP_PARTS } from './step_parts';

export interface Panel {
  title: string;
  // The series to draw as curves: a single series with a band, several series as plain lines. The
  // panel is shown if the job has the first series.
  keys: readonly string[];
  // Names for the series, if their keys are not readable.
  names?: readonly string[];
  // Color of the first of several series; 0 by default.
  firstColor?: number;
  // True for parts that add up to a whole. Such parts are drawn as layers.
  stacked?: boolean;
  // Series drawn as points.
  points?: readonly string[];
  unit: Unit;
}

export const DEFAULT_PANELS: readonly Panel[] = [
  { title: 'Loss', keys: ['loss'], points: ['val_loss'], unit: 'plain' },
  { title: 'Gradient norm', keys: ['grad_norm'], unit: 'plain' },
  { title: 'Gradient noise scale', keys: ['noise_scale'], unit: 'plain' },
  { title: 'Learning rate', keys: ['lr'], unit: 'plain' },
  { title: 'Loss scale', keys: ['loss_scale'], unit: 'plain' },
  { title: 'Skipped steps', keys: ['skipped_steps'], unit: 'plain' },
  { title: 'Tokens per second', keys: ['tokens_per_second'], unit: 'rate' },
  { title: 'MFU', keys: ['mfu', 'mfu_causal'], names: ['full', 'causal'], unit: 'ratio' },
  { title: 'Step time', keys: ['step_seconds'], unit: 'seconds' },
  { title: 'Memory', keys: ['memory_bytes'], unit: 'bytes' },
  { title: 'Input per second', keys: ['bytes_per_second'], unit: 'bytes' },
  {
    title: 'Documents',
    keys: ['documents', 'dropped_documents'],
    names: ['read', 'dropped'],
    unit: 'plain',
  },
  {
    title: 'Step time by part',
    keys: STEP_PARTS.map(({ key }) => key),
    names: STEP_PARTS.map(({ name }) => name),
    stacked: true,
    unit: 'seconds',
  },
];

export const DEFAULT_KEYS: readonly string[] = DEFAULT_PANELS.flatMap((panel) => [
  ...panel.keys,
  ...(panel.points ?? []),
]);

// Series of the first panel, which is as wide as the page.
export const WIDE_KEYS: readonly string[] = ['loss', 'val_loss'];

// Series that the user cannot add, because these series are the x axis or part of another panel.
const NOT_OFFERED = new Set(['tokens', 'val_loss']);

export function unitOf(key: string): Unit {
  if (key.endsWith('_bytes')) return 'bytes';
  if (key.endsWith('_seconds')) return 'seconds';
  if (key.endsWith('_ratio') || key === 'mfu_causal') return 'ratio';
  if (key.endsWith('_per_second')) return 'rate';
  return 'plain';
}

export const isStacked = ({ stacked }: Panel) => stacked === true;

// Returns the panel of the losses with all evaluation sets as points. If there are several sets, or
// if the job only evaluates, the sets also have a separate panel.
function lossPanels(loss: Panel, known: readonly string[]): Panel[] {
  const keys = evaluationKeys(known);
  const own: Panel = {
    title: 'Evaluation losses',
    keys,
    names: keys.map(setName),
    firstColor: setColor(0),
    unit: loss.unit,
  };
  if (!known.includes('loss')) return keys.length > 0 ? [own] : [];
  return [{ ...loss, points: keys }, ...(keys.length > 1 ? [own] : [])];
}

function defaultPanelsFor(known: readonly string[]): Panel[] {
  const isReady = ({ keys: [first = ''] }: Panel) => known.includes(first);
  return DEFAULT_PANELS.flatMap((panel) => {
    if (panel.points) return lossPanels(panel, known);
    return isReady(panel) ? [panel] : [];
  });
}

// Returns the panels for the job's series: the default panels, then the added ones.
export function panelsFor(known: readonly string[], extra: readonly string[]): Panel[] {
  const has = new Set(known);
  const ready = defaultPanelsFor(known);
  const shown = new Set(ready.flatMap((panel) => [...panel.keys, ...(panel.points ?? [])]));
  const added = extra.filter((key) => has.has(key) && !shown.has(key));
  return [...ready, ...added.map((key) => ({ title: key, keys: [key], unit: unitOf(key) }))];
}

// Returns the series that the user can add as panels.
export function offeredKeys(known: readonly string[]): string[] {
  const ready = new Set(
    defaultPanelsFor(known).flatMap((panel) => [...panel.keys, ...(panel.points ?? [])]),
  );
  return known.filter((key) => !ready.has(key) && !NOT_OFFERED.has(key));
}

export function valueText(value: number | undefined, unit: Unit): string {
  switch (unit) {
    case 'bytes':
      return bytes(value);
    case 'seconds':
      return duration(value);
    case 'ratio':
      return percent(value, 2);
    case 'rate':
      return short(value);
    case 'plain':
      return measured(value);
  }
}

// The token axis is offered only if the job reports tokens.
export const axesFor = (known: readonly string[]) =>
  AXES.filter((axis) => axis !== 'tokens' || known.includes('tokens'));
