// Finds the numbers of seeded jobs (tests/web/seed) by name.
import { HEADERS } from './access';

interface Listed {
  jobs: { id: number; name: string }[];
}

async function get(base: string, path: string): Promise<unknown> {
  const response = await fetch(`${base}/api/v1${path}`, { headers: HEADERS });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

export async function jobNumber(base: string, name: string): Promise<number> {
  const answer = (await get(base, `/jobs/${encodeURIComponent(name)}`)) as { job: { id: number } };
  return answer.job.id;
}

// Returns the numbers of the 50 runs of the sweep, oldest first.
export async function sweepNumbers(base: string): Promise<number[]> {
  const { jobs } = (await get(base, '/jobs?text=sweep-lr&limit=100&fields=id,name')) as Listed;
  return jobs
    .filter(({ name }) => name.startsWith('sweep-lr'))
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}
