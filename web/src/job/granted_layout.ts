// A layout that the controller chose, in a job file's words. Pure.
import type { GrantedLayout } from '../api/types';

// Settings that need no word: each has its default.
const USUAL: Readonly<Record<string, unknown>> = {
  tp: 1,
  cp: 1,
  ep: 1,
  pp: 1,
  vpp: 1,
  zero: 0,
  micro_batch: 1,
  recompute: 'none',
  sequence_parallel: true,
  cp_comm_type: 'p2p',
  zero_bubble: false,
};

// "dp 4, zero 1, recompute full on 1 node".
export function grantedText(granted: GrantedLayout): string {
  const words = Object.entries(granted.layout ?? {})
    .filter(([name, value]) => value !== USUAL[name] && value !== null)
    .map(([name, value]) => `${name} ${String(value)}`);
  const nodes = `${granted.nodes} ${granted.nodes === 1 ? 'node' : 'nodes'}`;
  return `${words.join(', ')} on ${nodes}`;
}
