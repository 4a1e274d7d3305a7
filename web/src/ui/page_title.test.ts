import { expect, it } from 'vitest';
import { HEALTH_LOOK } from '../format/words';
import { pageIcon, pageTitle } from './page_title';

it('begins with the word of what needs attention', () => {
  expect(pageTitle('llama #42', HEALTH_LOOK.stalled)).toBe('stalled · llama #42');
  expect(pageTitle('llama #42', undefined)).toBe('llama #42 · Trainyard');
});

it('has an icon by severity', () => {
  expect(pageIcon(HEALTH_LOOK.stalled)).toBe('/icon-bad.svg');
  expect(pageIcon(HEALTH_LOOK.slow)).toBe('/icon-warn.svg');
  expect(pageIcon(undefined)).toBe('/icon.svg');
});
