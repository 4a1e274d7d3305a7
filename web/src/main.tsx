import { render } from 'preact';
import { connect } from './api/store';
import { App } from './app';
import { startRouter } from './router/router';
import { startKeyboard } from './ui/keyboard';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/frame.css';
import './styles/cluster.css';
import './styles/job.css';
import './styles/job_views.css';

startRouter();
startKeyboard();
connect();
render(<App />, document.getElementById('app') as HTMLElement);
