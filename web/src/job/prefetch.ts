// Requests the data of a job's page early, before the page's code or first response has arrived.
import { prefetch } from '../api/client';
import { ordinalIn, parseCurveView, parsePath, type JobTab } from '../router/url';
import { seriesQueries } from './series_query';

// Requests the data of the page that a link opens. Called on mouse down, about 0.1 s before the
// click is complete.
export function prefetchLink(href: string): void {
  const { pathname, searchParams } = new URL(href, location.href);
  const at = parsePath(pathname);
  const isOtherJob = at.page === 'job' && pathname !== location.pathname;
  if (isOtherJob) prefetchJob(at.job, at.tab, searchParams);
}

export function prefetchJob(reference: string, tab: JobTab, search: URLSearchParams): void {
  const path = `/jobs/${encodeURIComponent(reference)}`;
  prefetch(path);
  // Views request jobs by number, so they would not use a response to a request by name.
  if (!/^\d+$/.test(reference)) return;
  if (tab === 'curves') {
    const { wide, narrow } = seriesQueries(parseCurveView(search), innerWidth);
    prefetch(`${path}/series`, wide);
    prefetch(`${path}/series`, narrow);
    prefetch(`${path}/metrics`);
  } else if (tab === 'ranks') {
    prefetch(`${path}/ranks`, { attempt: ordinalIn(search, 'attempt') });
  }
}
