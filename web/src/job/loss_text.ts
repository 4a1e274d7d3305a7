// Describes the analysis of a loss curve in words. Pure functions.
import type { LossCurve } from '../api/types';
import { count, plural, short } from '../format/numbers';

const SPIKES_NAMED = 3;

function spikesText(curve: LossCurve): string {
  const amount = plural(curve.spike_count, 'spike');
  const newest = curve.spike_steps.slice(-SPIKES_NAMED).map((step) => count(step));
  if (newest.length === 0) return 'no spikes';
  const where = newest.length < curve.spike_count ? 'latest at' : 'at';
  return `${amount}, ${where} step ${newest.join(', ')}`;
}

function changeText(curve: LossCurve): string {
  const rate = Number(curve.improvement_rate);
  const percent = Math.abs(100 * rate).toFixed(2);
  const fell = rate >= 0;
  const stagnant = curve.is_stagnant && fell ? ', stagnant' : '';
  return `${fell ? 'fell' : 'rose'} by ${percent} %${stagnant}`;
}

// Spikes are counted by the job's loss guard. Advice is shown only for non-finite losses, because
// slow improvement is normal in a long run. An older controller sends a window of 0.
export function lossText(curve: LossCurve): { facts: string[]; advice: string | undefined } {
  const before = short(Number(curve.previous_loss));
  const window = count(curve.window || 100);
  const facts = [
    `mean ${short(Number(curve.recent_loss))} of the last ${window} losses (before: ${before})`,
    changeText(curve),
    spikesText(curve),
  ];
  if (curve.not_finite === 0) return { facts, advice: undefined };
  facts.push(`${count(curve.not_finite)} not finite`);
  return { facts, advice: curve.recommendation };
}
