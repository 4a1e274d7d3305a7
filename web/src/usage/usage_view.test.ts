import { describe, expect, it } from 'vitest';
import { reportQuery, sinceOf, usageViewIn, userHref, weeksHref } from './usage_view';

const view = (text: string) => usageViewIn(new URLSearchParams(text));
// Saturday.
const NOW = Date.UTC(2026, 10, 28, 12, 34, 56);

describe('the view in the URL', () => {
  it('has defaults, also for invalid values', () => {
    const defaults = { by: 'user', period: '28d', user: undefined, job: undefined };
    expect(view('')).toEqual(defaults);
    expect(view('by=month&period=3d&user=&job=x')).toEqual(defaults);
    expect(view('job=0').job).toBeUndefined();
  });

  it('names the group, the period and the user', () => {
    expect(view('by=week&period=all&user=ada')).toMatchObject({
      by: 'week',
      period: 'all',
      user: 'ada',
    });
  });

  it('of a user can be read again', () => {
    const [, query] = userHref('a&b c', '7d').split('?');
    expect(view(query ?? '')).toMatchObject({ by: 'job', period: '7d', user: 'a&b c' });
  });

  it('of the weeks of a job can be read again', () => {
    const [, query] = weeksHref(42).split('?');
    expect(view(query ?? '')).toMatchObject({ by: 'week', period: 'all', job: 42 });
  });
});

describe('the period', () => {
  it('begins at a full hour', () => {
    expect(sinceOf(view('period=7d'), NOW)).toBe(Date.UTC(2026, 10, 21, 12));
  });

  it('begins with a whole week if the groups are weeks', () => {
    expect(sinceOf(view('by=week&period=7d'), NOW)).toBe(Date.UTC(2026, 10, 16));
    const monday = Date.UTC(2026, 10, 23);
    expect(sinceOf(view('by=week&period=7d'), monday)).toBe(Date.UTC(2026, 10, 16));
  });

  it('has no start for all time', () => {
    expect(reportQuery(view('by=job&period=all'), NOW)).toEqual({
      by: 'job',
      since: undefined,
      user: undefined,
      job_id: undefined,
      limit: 1000,
    });
  });
});
