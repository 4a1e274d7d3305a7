// Keyboard shortcuts. Each open page adds a layer of shortcuts. Disabled while the user types.
import { useEffect } from 'preact/hooks';
import { JOB_TABS } from '../router/url';

export type KeyMap = Record<string, () => void>;

const layers: KeyMap[] = [];
const SEQUENCE_MS = 1_200;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const types = ['checkbox', 'radio', 'range', 'button'];
  if (target instanceof HTMLInputElement) return !types.includes(target.type);
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}

// Returns the action for the keys, from the newest layer with an action for them.
function actionFor(keys: string): (() => void) | undefined {
  for (let at = layers.length - 1; at >= 0; at--) {
    const action = layers[at]?.[keys];
    if (action) return action;
  }
  return undefined;
}

const beginsSequence = (key: string) =>
  layers.some((layer) => Object.keys(layer).some((keys) => keys.startsWith(`${key} `)));

let first = '';
let firstAt = 0;

function onKeyDown(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    const open = actionFor('Ctrl-K');
    if (open) {
      event.preventDefault();
      open();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  // While a dialog is open, only its own keys work.
  if (document.querySelector('dialog[open]')) return;
  const pair = Date.now() - firstAt < SEQUENCE_MS ? actionFor(`${first} ${event.key}`) : undefined;
  const action = pair ?? actionFor(event.key);
  first = '';
  if (action) {
    event.preventDefault();
    action();
  } else if (beginsSequence(event.key)) {
    first = event.key;
    firstAt = Date.now();
  }
}

export function startKeyboard(): void {
  addEventListener('keydown', onKeyDown);
}

export function useKeys(keys: KeyMap): void {
  useEffect(() => {
    layers.push(keys);
    return () => {
      layers.splice(layers.indexOf(keys), 1);
    };
  });
}

// Moves the focus to the next or previous row. Rows are links marked with data-row.
export function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by;
  rows[next]?.focus();
  rows[next]?.scrollIntoView({ block: 'nearest' });
}

export function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  field?.focus();
  field?.select();
  return field !== null;
}

export const KEY_HELP: readonly { keys: string[]; does: string; where: string }[] = [
  {
    keys: ['g o', 'g j', 'g q', 'g n', 'g c', 'g p', 'g u', 'g e'],
    where: 'Everywhere',
    does: 'Overview, jobs, queue, nodes, compare, planner, usage, events',
  },
  { keys: ['Ctrl-K'], where: 'Everywhere', does: 'Find a job, node, page or action' },
  { keys: ['/'], where: 'Everywhere', does: 'Search this page' },
  { keys: ['j', 'k'], where: 'Everywhere', does: 'Next, previous row; Enter opens the row' },
  { keys: ['?'], where: 'Everywhere', does: 'Show this list' },
  { keys: ['1', '…', String(JOB_TABS.length)], where: 'Job page', does: 'Open a tab' },
  { keys: ['l'], where: 'Job page', does: 'Open the logs' },
  { keys: ['[', ']'], where: 'Job page', does: 'Previous, next attempt' },
  { keys: ['x'], where: 'Curves', does: 'Next axis: step, tokens, time' },
  { keys: ['y'], where: 'Curves', does: 'Switch between logarithmic and linear scale' },
  { keys: ['s'], where: 'Curves', does: 'Next smoothing level' },
  { keys: ['n'], where: 'Curves', does: 'Write a note on the step at the cursor' },
  { keys: ['0'], where: 'Curves', does: 'Show the whole run' },
  { keys: ['←', '→'], where: 'Chart', does: 'Previous, next point; with Shift, by ten points' },
  { keys: ['+', '-'], where: 'Chart', does: 'Zoom in or out around the current point' },
  { keys: ['Enter', '↓', '↑'], where: 'Logs', does: 'Open the line, next line, previous line' },
  { keys: ['Esc'], where: 'Logs', does: 'Close the line' },
  {
    keys: ['Shift'],
    where: 'Jobs',
    does: 'With a click or Space on a box: select all rows from the last one',
  },
  { keys: ['Ctrl-Enter'], where: 'New job', does: 'Plan the job file' },
  { keys: ['e', 'E'], where: 'Logs', does: 'Next error, previous error' },
];
