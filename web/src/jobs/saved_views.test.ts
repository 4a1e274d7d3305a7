import { describe, expect, it } from 'vitest';
import {
  NAME_CHARS_MAX,
  VIEWS_MAX,
  nameProblem,
  parsedViews,
  renamed,
  roomProblem,
  viewOf,
  withView,
  withoutView,
} from './saved_views';

const VIEWS = [
  { name: 'failed', query: '?states=failed' },
  { name: 'mine', query: '?q=ada' },
];
const names = (views: readonly { name: string }[]) => views.map(({ name }) => name);

describe('viewOf', () => {
  it('has the parameters of the list in one order, and no others', () => {
    const query = new URLSearchParams('sort=loss&q=llama&from=3&columns=loss,eta&states=running');
    expect(viewOf(query)).toBe('?columns=loss,eta&q=llama&sort=loss&states=running');
    expect(viewOf(new URLSearchParams('tab=1'))).toBe('');
  });
});

describe('stored views', () => {
  it('are read back', () => {
    expect(parsedViews(JSON.stringify(VIEWS))).toEqual(VIEWS);
  });

  it.each([null, '', 'no json', '7', '{"name":"x"}', '[null, 3, {"name": 7}, {"name": "  "}]'])(
    'are none if the text is damaged: %s',
    (text) => expect(parsedViews(text)).toEqual([]),
  );

  it('are limited in number, in the length of names and queries, and have unique names', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ name: `view ${index}`, query: '' }));
    expect(parsedViews(JSON.stringify(many))).toHaveLength(VIEWS_MAX);
    const odd = [
      { name: 'x'.repeat(200), query: '?evil=1&q=a' },
      { name: 'same', query: '' },
      { name: ' same ', query: '?q=b' },
      { name: 'long', query: `?q=${'y'.repeat(5_000)}` },
    ];
    expect(parsedViews(JSON.stringify(odd))).toEqual([
      { name: 'x'.repeat(NAME_CHARS_MAX), query: '?q=a' },
      { name: 'same', query: '' },
    ]);
  });
});

describe('changes', () => {
  it('add, rename and delete a view, sorted by name', () => {
    const three = withView(VIEWS, '  best   loss ', '?sort=best_loss');
    expect(names(three)).toEqual(['best loss', 'failed', 'mine']);
    expect(names(renamed(three, 'failed', 'sick'))).toEqual(['best loss', 'mine', 'sick']);
    expect(names(withoutView(three, 'mine'))).toEqual(['best loss', 'failed']);
  });

  it('need a new name, which may be the own old one', () => {
    expect(nameProblem(VIEWS, '  ')).toBe('Enter a name.');
    expect(nameProblem(VIEWS, ' mine')).toContain('“mine” exists');
    expect(nameProblem(VIEWS, 'mine', 'mine')).toBeUndefined();
  });

  it('need room', () => {
    const full = Array.from({ length: VIEWS_MAX }, (_, index) => ({ name: `${index}`, query: '' }));
    expect(roomProblem(full, '')).toContain('At most 20 views');
    expect(roomProblem(VIEWS, 'x'.repeat(2_000))).toContain('too long');
    expect(roomProblem(VIEWS, '?q=a')).toBeUndefined();
  });
});
