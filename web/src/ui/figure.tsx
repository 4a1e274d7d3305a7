// A key figure with its name and a note.
import type { ComponentChildren } from 'preact';

export interface FigureProps {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}

// Without a note, a non-breaking space keeps the line height.
export function Figure({ name, value, note }: FigureProps) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd class="note">{note ?? '\u00a0'}</dd>
    </div>
  );
}
