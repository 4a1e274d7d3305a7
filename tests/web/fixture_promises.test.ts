// Tests the promises and the other reasons on the page of a waiting job, with the fixture server.
import { it } from 'vitest';
import { FixtureBrowser } from './fixture_browser';

const pages = new FixtureBrowser();

it('shows the promised time, and on demand why it changed', async () => {
  const page = await pages.visit('/jobs/44');
  await page.getByText('Slots are promised by').click();
  await page.getByText('the time limit of job 41 (evaluate) was extended').waitFor();
  await page.getByText('is the first of its queue').waitFor();
});

it('shows the other reasons why a job waits', async () => {
  const page = await pages.visit('/jobs/45');
  await page.getByText('Also: needs 1 node with 8 gpu slots; none of 6 nodes fits').waitFor();
});
