// Watches a job on the pages of several controllers in Chromium, one tab per controller, until
// SIGTERM. Prints one line per tab and exits with 1 if a tab was of no use: it did not recover, a
// page of it did not open, or it reported an error.
//   watch_page.sh JOB LOGIN_URL PAGE...
// LOGIN_URL is printed by `trainyard dashboard`; PAGE is the HOST:PORT of a controller. With
// SCREENSHOTS=DIR, a picture of each tab is written there at the end.
import { chromium } from 'playwright-core';

const POLL_MS = 200;
// The longest time for which a tab may show that it is not up to date.
const STALE_LIMIT_MS = 20_000;
const PAGES = ['Queue', 'Nodes', 'Events', 'Jobs'];
const PAGE_EVERY = 25; // Polls between two visits of another page.

const [job, loginUrl, ...addresses] = process.argv.slice(2);
const pictures = process.env.SCREENSHOTS;
let ended = false;
process.on('SIGTERM', () => (ended = true));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

class Tab {
  complaints = [];
  staleSince = 0;
  longestStale = 0;
  polls = 0;
  visited = 0;

  constructor(page, address) {
    this.page = page;
    this.address = address;
    page.on('pageerror', (error) => this.complaints.push(error.message));
  }

  static async open(context, address, session) {
    const page = await context.newPage();
    const tab = new Tab(page, address);
    await page.goto(`http://${address}/`);
    await page.evaluate((text) => localStorage.setItem('trainyard-session', text), session);
    await tab.openJob();
    return tab;
  }

  async openJob() {
    await this.page.goto(`http://${this.address}/jobs/${job}`);
    await this.page.getByText('live', { exact: true }).first().waitFor();
  }

  // Opens another page by its link, and returns to the job.
  async visitNext() {
    const name = PAGES[this.visited++ % PAGES.length];
    const links = this.page.getByRole('navigation', { name: 'Pages' });
    await links.getByRole('link', { name }).click();
    await this.page.getByRole('heading', { name, level: 1 }).waitFor();
    await this.page.goBack();
  }

  async poll() {
    const now = Date.now();
    const isLive = (await this.page.getByText('live', { exact: true }).count()) > 0;
    if (!isLive && this.staleSince === 0) this.staleSince = now;
    if (this.staleSince > 0) this.longestStale = Math.max(this.longestStale, now - this.staleSince);
    if (isLive) this.staleSince = 0;
    if (++this.polls % PAGE_EVERY === 0) await this.visitNext();
  }

  report() {
    const problems = [...this.complaints];
    if (this.longestStale > STALE_LIMIT_MS) problems.push('it was not up to date for too long');
    console.log(
      `page ${this.address}: ${this.visited} pages opened, not up to date for at most ` +
        `${(this.longestStale / 1000).toFixed(1)} s` +
        (problems.length > 0 ? `; FAILED: ${problems.join('; ')}` : ''),
    );
    return problems.length === 0;
  }
}

async function logIn(context) {
  const page = await context.newPage();
  await page.goto(loginUrl);
  await page.waitForFunction(() => localStorage.getItem('trainyard-session') !== null);
  const session = await page.evaluate(() => localStorage.getItem('trainyard-session'));
  await page.close();
  return session;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu'],
  handleSIGTERM: false, // The last look and the report come after it.
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
context.setDefaultTimeout(30_000);
const session = await logIn(context);
const tabs = [];
for (const address of addresses) tabs.push(await Tab.open(context, address, session));
console.log(`watching job ${job} on ${addresses.join(' and ')}`);
while (!ended) {
  for (const tab of tabs) await tab.poll();
  await pause(POLL_MS);
}
let allWell = true;
for (const [index, tab] of tabs.entries()) {
  await tab.page.getByText('live', { exact: true }).first().waitFor();
  if (pictures) await tab.page.screenshot({ path: `${pictures}/page-${index}.png` });
  allWell = tab.report() && allWell;
}
await browser.close();
process.exit(allWell ? 0 : 1);
