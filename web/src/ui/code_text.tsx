// Shows a pending reason or its advice, as sent by the controller. Text between backticks, such as
// a command or a setting, becomes <code>.
import type { ComponentChildren } from 'preact';

export function withCode(text: string): ComponentChildren {
  const parts = text.split('`');
  // Parts with an odd index were between backticks.
  return parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
