import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}

// The browser's own modal dialog: the focus stays inside, Escape closes it, and the page behind
// cannot be used.
export function Dialog({ title, onClose, children, wide }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Opens before the next key event, so that a key pressed at once goes to the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // A click on the backdrop closes the dialog. A click that began inside does not: the browser
  // reports the end of a selection that was dragged out of a field as a click on the dialog.
  const pressed = useRef<EventTarget | null>(null);
  const onBackdrop = (event: MouseEvent) => {
    if (event.target === dialog.current && pressed.current === dialog.current) onClose();
  };
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : ''}
      aria-label={title}
      onClose={onClose}
      onMouseDown={(event) => (pressed.current = event.target)}
      onClick={onBackdrop}
    >
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
