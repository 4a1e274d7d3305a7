// Shows a message of the controller (a pending reason or its advice): text between backticks is a
// command or a setting, and becomes <code>.
import type { ComponentChildren } from 'preact';

export function withCode(text: string): ComponentChildren {
  const parts = text.split('`');
  // Parts with an odd index were between backticks.
  return parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
