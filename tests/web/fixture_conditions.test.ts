// Tests the pages of a job that waits for a condition on another job, with the fixture server.
import { it } from 'vitest';
import { FixtureBrowser } from './fixture_browser';

const CONDITION = 'a checkpoint at step 5000 or later of job 42 (llama3-8b-c4)';

const pages = new FixtureBrowser();

it.each(['/jobs/45', '/queue'])('shows the condition that is missing: %s', async (path) => {
  const reason = pages.server.cluster.pending.get(45)!;
  pages.server.cluster.pending.set(45, {
    ...reason,
    code: 'dependency',
    queue_position: 0,
    blocking_job_id: 0,
    message: `waits for ${CONDITION}, which is running (\`after\`)`,
    advice: '`trainyard why 42` explains job 42 (llama3-8b-c4)',
  });
  const page = await pages.visit(path);
  const shown = page.getByText(`Waits for ${CONDITION}, which is running (after)`);
  await shown.first().waitFor();
  await page.getByText('trainyard why 42', { exact: true }).first().waitFor();
});
