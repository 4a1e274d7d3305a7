import { render } from 'preact';
import { LOGIN_PATH, codeIn, logIn } from './api/login';
import { followOtherTabs } from './api/session';
import { connect } from './api/store';
import { App, loadPage } from './app';
import { prefetchJob } from './job/prefetch';
import { place, query, replaceAddress, startRouter } from './router/router';
import { startKeyboard } from './ui/keyboard';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/lists.css';
import './styles/frame.css';
import './styles/cluster.css';
import './styles/health.css';
import './styles/job.css';
import './styles/notes.css';
import './styles/job_views.css';
import './styles/ranks.css';
import './styles/planner.css';
import './styles/jobs.css';

function start(): void {
  const at = place.value;
  if (at.page === 'job') {
    prefetchJob(at.job, at.tab, query.value);
    loadPage('job');
  }
  connect(at.page === 'job');
  render(<App />, document.getElementById('app') as HTMLElement);
}

startRouter();
startKeyboard();
followOtherTabs();
if (location.pathname === LOGIN_PATH) {
  const code = codeIn(location.hash);
  // Done first, so that the login URL does not stay in the browser's history.
  replaceAddress('/');
  if (code) void logIn(code).then(start);
  else start();
} else {
  start();
}
