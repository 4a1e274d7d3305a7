// Shows a message of the controller, which is a pending reason or its advice. Text between
// backticks is a command or a setting and is shown as <code>.
import type { ComponentChildren } from 'preact';

export function withCode(text: string): ComponentChildren {
  const parts = text.split('`');
  // The parts with an odd index were between backticks.
  return parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
