// Asks for what a job's page will show before its code is loaded, or its first answer has come.
import { askEarly } from '../api/client';
import { parseCurveView, parsePath, type JobTab } from '../router/url';
import { seriesQueries } from './series_query';

// The same for where a pressed link leads: a click ends about a tenth of a second after it began.
export function askForLink(href: string): void {
  const { pathname, searchParams } = new URL(href, location.href);
  const at = parsePath(pathname);
  if (at.page === 'job' && pathname !== location.pathname) askForJob(at.job, at.tab, searchParams);
}

export function askForJob(reference: string, tab: JobTab, search: URLSearchParams): void {
  const path = `/jobs/${encodeURIComponent(reference)}`;
  askEarly(path);
  // Views ask by number: under a name the answers would not be found again.
  if (!/^\d+$/.test(reference)) return;
  if (tab === 'curves') {
    const { wide, narrow } = seriesQueries(parseCurveView(search), innerWidth);
    askEarly(`${path}/series`, wide);
    askEarly(`${path}/series`, narrow);
    askEarly(`${path}/metrics`);
  } else if (tab === 'ranks') {
    askEarly(`${path}/ranks`, { attempt: Number(search.get('attempt')) || undefined });
  }
}
