// The load of experts in words and colors. Pure functions.
import type { ExpertBalance, JsonNumber, LayerBalance } from '../api/types';
import { percent, plural } from '../format/numbers';

// The upper load bound of each color. Loads are relative to the mean of their layer. The scale is
// symmetric: 0.8 is as far from 1 as 1.25.
export const LOAD_BOUNDS: readonly number[] = [0.25, 0.5, 0.8, 1.25, 1.6, 2.5, 4];

// Returns the number of the color, from 0 for --heat-0 to 7 for --heat-7. Returns undefined for an
// expert without rows, which has a separate mark.
export function heatOfLoad(load: number): number | undefined {
  if (load <= 0) return undefined;
  const below = LOAD_BOUNDS.findIndex((bound) => load < bound);
  return below === -1 ? LOAD_BOUNDS.length : below;
}

// Returns the range of loads of a color, such as "0.8 to 1.25".
export function rangeOfHeat(heat: number): string {
  const [low, high] = [LOAD_BOUNDS[heat - 1], LOAD_BOUNDS[heat]];
  if (low === undefined) return `below ${high}`;
  return high === undefined ? `${low} or more` : `${low} to ${high}`;
}

// Formats with three significant digits, the precision of the recorded loads.
export const digits = (value: number): string => String(Number(value.toPrecision(3)));

const numberOf = (value: JsonNumber | undefined): number =>
  typeof value === 'number' ? value : NaN;

export const loadsOf = ({ load }: LayerBalance): number[] => load.map(numberOf);

export const idleExperts = (layer: LayerBalance): number =>
  loadsOf(layer).filter((load) => load === 0).length;

// Returns the number of the expert with the highest load; undefined without loads.
export function busiestExpert(layer: LayerBalance): number | undefined {
  const loads = loadsOf(layer);
  return loads.length === 0 ? undefined : loads.indexOf(Math.max(...loads));
}

// Returns "2.4 times the mean", "the mean load" or "no rows".
export function loadWords(load: number): string {
  if (load === 0) return 'no rows';
  return load === 1 ? 'the mean load' : `${digits(load)} times the mean load`;
}

export function cellWords(layer: LayerBalance, expert: number): string {
  const load = loadsOf(layer)[expert];
  const words = load === undefined ? 'load not reported' : loadWords(load);
  return `Layer ${layer.layer}, expert ${expert}: ${words}`;
}

// Returns a sentence about the layer whose load is least even.
export function worstWords(balance: ExpertBalance): string {
  const worst = balance.layers.find(({ layer }) => layer === balance.worst_layer);
  if (!worst) return '';
  const busiest = busiestExpert(worst);
  const name = busiest === undefined ? 'the busiest expert' : `expert ${busiest}`;
  const limit = balance.experts / Math.max(balance.topk, 1);
  return (
    `Layer ${worst.layer} shares its load least evenly: ${name} has ` +
    `${digits(numberOf(worst.balance))} times the mean load (even: 1, worst possible: ` +
    `${digits(limit)}).`
  );
}

// Returns sentences about experts without rows and dropped tokens. Empty if there are none.
export function lossWords({ layers }: ExpertBalance): string[] {
  const words: string[] = [];
  const idle = layers.reduce((sum, layer) => sum + idleExperts(layer), 0);
  if (idle > 0) {
    const where = layers.filter((layer) => idleExperts(layer) > 0).map(({ layer }) => layer);
    words.push(`${plural(idle, 'expert')} without rows, in ${layerList(where)}.`);
  }
  const dropped = Math.max(0, ...layers.map((layer) => numberOf(layer.dropped) || 0));
  if (dropped > 0) {
    const at = layers.find((layer) => numberOf(layer.dropped) === dropped);
    words.push(`Layer ${at?.layer} drops ${percent(dropped, 1)} of its tokens' choices.`);
  }
  return words;
}

const NAMED_LAYERS = 4;

function layerList(layers: readonly number[]): string {
  if (layers.length === 1) return `layer ${layers[0]}`;
  const named = layers.slice(0, NAMED_LAYERS).join(', ');
  const more = layers.length - NAMED_LAYERS;
  return more > 0 ? `layers ${named} and ${more} more` : `layers ${named}`;
}
