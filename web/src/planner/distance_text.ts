import type { AxisDistance } from '../api/types';

const AXES: Record<string, string> = {
  tp: 'Tensor parallel',
  cp: 'Context parallel',
  dp: 'Data parallel',
  pp: 'Pipeline',
  ep: 'Experts',
};

// Returns a text such as "Data parallel crosses spine: 12.5 GB/s per GPU".
export function distanceText(distance: AxisDistance): string {
  const { axis, crossed_level: level, limit, is_assumed: assumed } = distance;
  const rate = Number((Number(distance.bytes_per_second) / 1e9).toPrecision(3));
  const place = level ? `crosses ${level}` : 'stays within nodes';
  const text = `${AXES[axis] ?? axis} ${place}: ${rate} GB/s per GPU`;
  if (!level) return `${text} (${limit})`;
  const cause = limit === level ? '' : `, limited by ${limit}`;
  const source = assumed ? ` (assumed; the topology has no bandwidth for ${limit})` : '';
  return text + cause + source;
}
