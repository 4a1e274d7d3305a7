// A part of a page with a title. May have a button for those who may use it.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { stale } from '../api/store';

export interface SectionProps {
  title: string;
  button?: string;
  // True if the user may use the button.
  offered?: boolean;
  onButton?: () => void;
  children: ComponentChildren;
}

export function Section({ title, button, offered, onButton, children }: SectionProps) {
  const id = useId();
  return (
    <section class="queue-group" aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        {offered && (
          <button type="button" disabled={stale.value} onClick={onButton}>
            {button}
          </button>
        )}
      </div>
      {children}
    </section>
  );
}
