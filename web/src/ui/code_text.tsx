// Text between backticks in a sentence of the controller is a command or a setting.
import type { ComponentChildren } from 'preact';

export function withCode(text: string): ComponentChildren {
  const parts = text.split('`');
  return parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
