// Labeled text fields, each with the problem of its value below it.
import { useId } from 'preact/hooks';

export interface FieldProps {
  label: string;
  value: string;
  type?: 'text' | 'datetime-local';
  inputMode?: 'text' | 'numeric' | 'decimal';
  maxLength?: number;
  placeholder?: string | undefined;
  autofocus?: boolean;
  // Why the value cannot be sent or was refused.
  problem?: string | undefined;
  onText: (text: string) => void;
}

const Problem = ({ id, text }: { id: string; text: string | undefined }) =>
  text === undefined ? null : (
    <p id={id} class="tone-bad" role="alert">
      {text}
    </p>
  );

export interface TextAreaProps {
  label: string;
  rows: number;
  value: string;
  placeholder?: string;
  problem?: string | undefined;
  onText: (text: string) => void;
}

export function TextArea({ label, problem, onText, ...area }: TextAreaProps) {
  const id = useId();
  const note = `${id}-problem`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        spellcheck={false}
        {...area}
        id={id}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && note}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <Problem id={note} text={problem} />
    </div>
  );
}

export function Field({ label, problem, onText, type = 'text', ...input }: FieldProps) {
  const id = useId();
  const note = `${id}-problem`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        autocomplete="off"
        spellcheck={false}
        {...input}
        // Preact has one type of attributes for each type of field.
        type={type as 'text'}
        id={id}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && note}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <Problem id={note} text={problem} />
    </div>
  );
}
