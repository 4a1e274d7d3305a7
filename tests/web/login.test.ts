// Tests logins, sessions and logouts with two real controllers on one host, and a third server that
// belongs to another user. The programs are in TRAINYARD_BIN.
import { existsSync, mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HEADERS } from './access';
import { TIMEOUT_MS, WIDE, launch } from './browser';
import { Cluster, until } from './cluster';

const programs = process.env['TRAINYARD_BIN'] ?? '';
const built = existsSync(join(programs, 'trainyard-controller'));
const folder = process.env['SCREENSHOTS'];

// Another user's server on the controllers' host. Records everything that browsers send to it.
class ForeignServer {
  private server: Server | undefined;
  readonly received: string[] = [];
  url = '';

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.received.push(`${request.url} ${JSON.stringify(request.rawHeaders)}`);
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>foreign</title><p>hello</p>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

const secretIn = (page: Page) =>
  page.evaluate(() => {
    const kept = JSON.parse(localStorage.getItem('trainyard-session') ?? '{}');
    return (kept as { secret?: string }).secret;
  });
const live = (page: Page) => page.getByText('live', { exact: true });
const title = (page: Page, name: string) => page.getByRole('heading', { name });

describe.runIf(programs !== '' && built)('the login', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  // URL and referrer of every request.
  let asked: string[];
  const first = new Cluster(programs);
  const second = new Cluster(programs);
  const foreign = new ForeignServer();

  const logIn = async (cluster: Cluster, at = page) => {
    await at.goto(cluster.loginUrl());
    await live(at).waitFor();
  };
  const statusWith = async (cluster: Cluster, headers: Record<string, string>) =>
    (await fetch(`${cluster.url}/api/v1/nodes`, { headers })).status;
  const picture = async (name: string) => {
    if (folder) await page.screenshot({ path: join(folder, `login-${name}.png`) });
  };

  beforeAll(async () => {
    browser = await launch();
    await Promise.all([first.startController(), second.startController(), foreign.start()]);
    if (folder) mkdirSync(folder, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([first.stop(), second.stop(), foreign.stop()]);
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: WIDE });
    context.setDefaultTimeout(TIMEOUT_MS);
    asked = [];
    context.on('request', (request) => {
      asked.push(`${request.url()} ${request.headers()['referer'] ?? ''}`);
    });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  it('is asked for, takes a code once, and lasts over reloads, new tabs and restarts', async () => {
    await page.goto(`${first.url}/nodes`);
    await title(page, 'You are not logged in').waitFor();
    await page.getByText('trainyard dashboard').waitFor();
    await picture('needed');
    const address = first.loginUrl();
    const code = new URL(address).hash.slice('#code='.length);
    expect(code).toMatch(/^[0-9a-f]{64}$/);
    await page.goto(address);
    await live(page).waitFor();
    await picture('done');
    expect(page.url()).toBe(`${first.url}/`);
    await page.reload();
    await live(page).waitFor();
    const tab = await context.newPage();
    await tab.goto(`${first.url}/nodes`);
    await live(tab).waitFor();
    expect(new URL(tab.url()).pathname).toBe('/nodes');
    await first.killController();
    await tab.getByText(/^stale \d/).waitFor();
    await first.startController();
    await live(tab).waitFor();
    await page.goto(address);
    await title(page, 'Login failed').waitFor();
    await page.getByText('already used').waitFor();
    await picture('refused');
    // Using the rejected code must not have ended the session.
    await page.goto(`${first.url}/`);
    await live(page).waitFor();
    const secret = await secretIn(page);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(asked.filter((text) => text.includes(secret!) || text.includes(code))).toEqual([]);
    const history = await page.evaluate(() => location.href + document.referrer);
    expect(history).not.toContain(code);
  });

  it('goes to one port: two controllers do not log each other out', async () => {
    await logIn(first);
    await logIn(second);
    const other = await context.newPage();
    await other.goto(`${first.url}/`);
    await live(other).waitFor();
    await page.reload();
    await live(page).waitFor();
    const [one, two] = [await secretIn(other), await secretIn(page)];
    expect(one).not.toBe(two);
    expect(await statusWith(first, { 'trainyard-session': two! })).toBe(401);
    // The other user's server must receive no credentials, neither from a visit nor from a request
    // by its page.
    const visit = await context.newPage();
    await visit.goto(`${foreign.url}/`);
    for (const init of [
      { mode: 'no-cors', credentials: 'include' },
      { headers: { 'trainyard-session': one! } },
    ] satisfies RequestInit[]) {
      const read = visit.evaluate(
        ([target, how]) => fetch(`${target}/api/v1/nodes`, how).then(({ status }) => status),
        [first.url, init] as const,
      );
      await expect(read).rejects.toThrow('Failed to fetch');
    }
    expect(foreign.received.length).toBeGreaterThan(0);
    const all = foreign.received.join('\n');
    expect(all.toLowerCase()).not.toContain('cookie');
    expect(all).not.toContain(one);
    expect(all).not.toContain(two);
    expect(await context.cookies()).toEqual([]);
  });

  it('removes the cookie of earlier versions, which opens nothing', async () => {
    const old = { name: 'trainyard_session', value: 'old', url: first.url };
    await context.addCookies([old]);
    await logIn(first);
    expect(await context.cookies()).toEqual([]);
    const secret = await secretIn(page);
    expect(await statusWith(first, { cookie: `trainyard_session=${secret}` })).toBe(401);
  });

  it('ends by a log-out in every tab, and in the controller', async () => {
    await logIn(first);
    const tab = await context.newPage();
    await tab.goto(`${first.url}/jobs`);
    await live(tab).waitFor();
    const secret = (await secretIn(page))!;
    expect(await statusWith(first, { 'trainyard-session': secret })).toBe(200);
    await page.getByRole('button', { name: 'Log out' }).click();
    await title(page, 'You are logged out').waitFor();
    await picture('out');
    await title(tab, 'You are logged out').waitFor();
    expect(await statusWith(first, { 'trainyard-session': secret })).toBe(401);
    await page.reload();
    await title(page, 'You are not logged in').waitFor();
    // After a login in one tab, every other tab returns to its previous page.
    await logIn(first);
    await live(tab).waitFor();
    expect(new URL(tab.url()).pathname).toBe('/jobs');
  });

  it('ends when an operator ends the session, also on an open page', async () => {
    await logIn(first);
    const { sessions } = (await first.get('/sessions')) as { sessions: { address: string }[] };
    expect(sessions.map(({ address }) => address)).toContain('127.0.0.1');
    const ended = await fetch(`${first.url}/api/v1/sessions`, {
      method: 'DELETE',
      headers: HEADERS,
    });
    expect(ended.status).toBe(200);
    await title(page, 'Your session has ended').waitFor();
    await picture('ended');
    expect(await secretIn(page)).toBeUndefined();
    // From here on, the page must not send requests.
    asked.length = 0;
    await page.waitForTimeout(3_000);
    expect(asked).toEqual([]);
  });

  it('replaces the session that the browser had', async () => {
    await logIn(first);
    const secret = (await secretIn(page))!;
    await logIn(first);
    await until('the end of the older session', async () =>
      (await statusWith(first, { 'trainyard-session': secret })) === 401 ? true : undefined,
    );
    await page.reload();
    await live(page).waitFor();
  });
});
