// Formats a layout chosen by the controller, using the keys of a job file. Pure functions.
import type { GrantedLayout } from '../api/types';

// Settings with these default values are not shown.
const DEFAULTS: Readonly<Record<string, unknown>> = {
  tp: 1,
  cp: 1,
  ep: 1,
  pp: 1,
  vpp: 1,
  zero: 0,
  micro_batch: 1,
  recompute: 'none',
  sequence_parallel: true,
  cp_comm_type: 'auto',
  zero_bubble: false,
  moe_token_dispatcher_type: 'auto',
};

// Such as "dp 4, zero 1, recompute full on 1 node".
export function grantedText(granted: GrantedLayout): string {
  const words = Object.entries(granted.layout ?? {})
    .filter(([name, value]) => value !== DEFAULTS[name] && value !== null)
    .map(([name, value]) => `${name} ${String(value)}`);
  const nodes = `${granted.nodes} ${granted.nodes === 1 ? 'node' : 'nodes'}`;
  return `${words.join(', ')} on ${nodes}`;
}
