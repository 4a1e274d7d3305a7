// A plain text area for a job file, with line numbers that mark errors.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

// The controller accepts job files of at most this size.
const BYTES_MAX = 1 << 20;

export interface EditorProps {
  text: string;
  // Numbers of the lines with errors, counted from 1.
  errorLines: ReadonlySet<number>;
  area: preact.RefObject<HTMLTextAreaElement | null>;
  // Id of the element that describes the errors.
  describedBy: string | undefined;
  onText: (text: string) => void;
  // Called with the position of the cursor.
  onCursor: (offset: number) => void;
  // Called when the user presses Ctrl-Enter.
  onPlan: () => void;
}

// Returns the numbers of all lines, one per line. Numbers without an error are one text, because a
// long file would otherwise need an element per line.
function numbered(lines: number, errorLines: ReadonlySet<number>): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let text = '';
  for (let line = 1; line <= lines; line++) {
    if (!errorLines.has(line)) {
      text += `${line}\n`;
      continue;
    }
    parts.push(text, <b key={line}>{`● ${line}\n`}</b>);
    text = '';
  }
  return [...parts, text];
}

export function Editor(props: EditorProps) {
  const { text, errorLines, area, onText, onCursor } = props;
  const numbers = useRef<HTMLDivElement>(null);
  const lines = text.split('\n').length;
  const look = () => area.current && onCursor(area.current.selectionStart);
  return (
    <div class="editor">
      <div class="editor-numbers" aria-hidden="true">
        <div ref={numbers}>{numbered(lines, errorLines)}</div>
      </div>
      <textarea
        ref={area}
        aria-label="Job file"
        aria-invalid={errorLines.size > 0}
        aria-describedby={props.describedBy}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        maxLength={BYTES_MAX}
        value={text}
        onInput={(event) => {
          onText(event.currentTarget.value);
          look();
        }}
        onKeyUp={look}
        onClick={look}
        onFocus={look}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          props.onPlan();
        }}
        onScroll={(event) => {
          if (!numbers.current) return;
          numbers.current.style.transform = `translateY(${-event.currentTarget.scrollTop}px)`;
        }}
      />
    </div>
  );
}
