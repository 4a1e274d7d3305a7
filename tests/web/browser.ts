// Starts Chromium and provides helpers for all page tests.
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { HEADERS } from './access';

export type Theme = 'light' | 'dark';
// Maximum time to wait for content on a page. Long enough for a busy machine.
export const TIMEOUT_MS = 60_000;
export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export function launch(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';
  // Chromium's sandbox does not work as root. On bare machines, the tests run as root.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

export interface OpenPage {
  page: Page;
  context: BrowserContext;
  // Errors that the page reported, and requests that its content security policy blocked.
  complaints: string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  theme: Theme = 'light',
  viewport = WIDE,
  // Called for each request of the page, for example with "GET /api/v1/jobs?limit=5".
  onRequest?: (request: string) => void,
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: 'reduce',
    // Authenticates by token instead of a session cookie. login.test.ts tests sessions.
    extraHTTPHeaders: HEADERS,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    // Ignores failed requests, which some tests cause on purpose. The pages display these errors.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      complaints.push(text);
  });
  if (onRequest) {
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      onRequest(`${request.method()} ${pathname}${search}`);
    });
  }
  await page.goto(url);
  return { page, context, complaints };
}
