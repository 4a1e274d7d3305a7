import { render } from 'preact';
import { connect } from './api/store';
import { App, loadPage } from './app';
import { askForJob } from './job/early';
import { place, query, startRouter } from './router/router';
import { startKeyboard } from './ui/keyboard';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/frame.css';
import './styles/cluster.css';
import './styles/job.css';
import './styles/job_views.css';
import './styles/planner.css';

startRouter();
startKeyboard();
const at = place.value;
if (at.page === 'job') {
  askForJob(at.job, at.tab, query.value);
  loadPage('job');
}
connect(at.page === 'job');
render(<App />, document.getElementById('app') as HTMLElement);
