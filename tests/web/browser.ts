// Debian's Chromium, and helpers for all tests of pages.
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { HEADERS } from './access';

export type Theme = 'light' | 'dark';
// Time-out for a page to show something, long enough for a busy machine.
export const TIMEOUT_MS = 60_000;
export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export function launch(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  // The sandbox does not work as root, and tests run as root on bare machines.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

export interface OpenPage {
  page: Page;
  context: BrowserContext;
  // Errors of the page, and requests blocked by the content security policy.
  complaints: string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  theme: Theme = 'light',
  viewport = WIDE,
  // Called for each request of the page, with a text like "GET /api/v1/jobs?limit=5".
  onRequest?: (request: string) => void,
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: 'reduce',
    // Uses the token instead of a session. login.test.ts tests sessions.
    extraHTTPHeaders: HEADERS,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    // Some tests cause failed requests; the pages show these errors themselves.
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
