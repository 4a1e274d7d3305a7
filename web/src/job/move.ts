// The queue and priority of a job, and requests to change them. Pure functions.
import { hasEnded } from '../api/live';
import type { Job } from '../api/types';

export interface Move {
  queue?: string;
  priority?: number;
}

const PRIORITY_MAX = 1000;

export const isMovable = (job: Job): boolean => !hasEnded(job) && job.state !== 'stopping';

// Returns what the two texts change; undefined if a text is invalid or nothing changes.
export function moveOf(job: Job, queue: string, priority: string): Move | undefined {
  const name = queue.trim();
  const number = Number(priority);
  const valid = /^-?\d+$/.test(priority.trim()) && Math.abs(number) <= PRIORITY_MAX;
  if (name === '' || !valid) return undefined;
  const move: Move = {};
  if (name !== job.queue) move.queue = name;
  if (number !== job.priority) move.priority = number;
  return Object.keys(move).length > 0 ? move : undefined;
}

export function moveCommand(job: Job, move: Move | undefined): string {
  const queue = move?.queue === undefined ? '' : ` --queue ${move.queue}`;
  const priority = move?.priority === undefined ? '' : ` --priority ${move.priority}`;
  return `trainyard queue move ${job.id}${queue}${priority}`;
}

// Returns "queue night, priority 5", without the part that is usual.
export function placeText({ queue, priority }: Job): string {
  const parts = [];
  if (queue !== '' && queue !== 'default') parts.push(`queue ${queue}`);
  if (priority !== 0) parts.push(`priority ${priority}`);
  return parts.join(', ');
}
