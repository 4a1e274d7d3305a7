// Generates the elements of a large array by formula.
import type { ArrayRow, GetArrayResponse, Job } from '../../web/src/api/types';
import { NOW } from './fixtures';

export const ELEMENTS = 1_000_000;
const ENDED = 250_000;

export const COUNTS = {
  elements: ELEMENTS,
  created: ENDED,
  succeeded: 200_000,
  failed: 1_000,
  stopped: 49_000,
  halved: 49_000,
};

// The losses descend with the index.
function rowOf(index: number): ArrayRow {
  return {
    index,
    job_id: 1_000 + index,
    state: index % 5 === 4 ? 'stopped' : 'succeeded',
    step: 1_000,
    loss: 4 - index / ENDED,
    validation_loss: 4.1 - index / ENDED,
    reason: index % 5 === 4 ? 'ranked 9 of 10 at step 500' : '',
    settings: [
      { key: 'optimizer.lr', value: index % 2 ? '3e-4' : '1e-4' },
      { key: 'train.seed', value: String(index) },
    ],
  };
}

export function arrayResponse(job: Job, query: URLSearchParams): GetArrayResponse {
  const offset = Number(query.get('offset') ?? 0);
  const limit = Math.min(Number(query.get('limit') ?? 100), ENDED - offset);
  const falls = ['loss', 'validation_loss'].includes(query.get('order') ?? '');
  const place = (i: number) => (falls ? ENDED - 1 - offset - i : offset + i);
  return {
    job_id: job.id,
    name: job.name,
    state: job.state,
    counts: COUNTS,
    rows: Array.from({ length: limit }, (_, i) => rowOf(place(i))),
    total: ENDED,
    rungs: [500, 1_000].flatMap((step) =>
      Array.from({ length: 10 }, (_, i) => ({
        step,
        index: i,
        metric: 3 + i / 10,
        rank: i + 1,
        compared: 10,
        stopped: i >= 5,
      })),
    ),
    revision: 7,
    as_of_ms: NOW,
  };
}
