// A sweep of six runs over the learning rate, the batch and the precision.
import { NOW, MINUTE, attempt, job, type Cluster } from './fixtures';

interface Trial {
  id: number;
  lr: number;
  batch: number;
  precision: string;
}

const TRIALS: readonly Trial[] = [
  { id: 100, lr: 1e-4, batch: 256, precision: 'bf16' },
  { id: 101, lr: 3e-4, batch: 256, precision: 'bf16' },
  { id: 102, lr: 1e-3, batch: 256, precision: 'fp8' },
  { id: 103, lr: 1e-4, batch: 512, precision: 'bf16' },
  { id: 104, lr: 3e-4, batch: 512, precision: 'fp8' },
  { id: 105, lr: 1e-3, batch: 1024, precision: 'fp8' },
];

export const SWEEP = `/compare?jobs=${TRIALS.map(({ id }) => id).join(',')}`;

export function addSweep(cluster: Cluster): void {
  for (const { id, lr, batch, precision } of TRIALS) {
    const trial = job(id, `sweep-${id - 100}`, 'succeeded', {
      ended_time_ms: NOW - 10 * MINUTE,
      attempts: [attempt(1, { state: 'ended', last_step: 1_200 })],
    });
    const { spec } = trial;
    Object.assign(spec!.train!, { global_batch: batch, precision });
    Object.assign(spec!.optimizer!, { lr });
    Object.assign(spec!, { restart: { max_restarts: id } });
    Object.assign(spec!.checkpoint!, { dir: `/ckpt/${id}` });
    trial.progress = { ...trial.progress!, step: 1_200, loss: 2.5 };
    cluster.jobs.push(trial);
  }
}
