// Runs axe, by the rules of WCAG 2.2 AA.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

// Returns one line for each rule that the page violates.
export async function violationsOf(page: Page): Promise<string[]> {
  // The page's content security policy does not apply to page.evaluate().
  await page.evaluate(AXE);
  const results = await page.evaluate(async (tags) => {
    const { axe } = window as unknown as { axe: { run(o: object): Promise<AxeResults> } };
    return axe.run({ runOnly: tags });
  }, TAGS);
  return results.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ''}`)
        .join(' | ')}`,
  );
}
