// A dialog that confirms an action, such as a form, and shows the equivalent command line.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asRequestError, type RequestError } from '../api/client';
import { stale } from '../api/store';
import { CommandLine } from './copy';
import { Dialog } from './dialog';
import { Icon } from './icon';
import { Failure } from './notice';

// Returns the controller's message if it is about the field.
export type ProblemAt = (field: string) => string | undefined;

export interface ConfirmProps {
  title: string;
  // The harm that the action does, if any.
  warning?: string | undefined;
  text: string;
  commandLine: string;
  button: string;
  danger?: boolean;
  // False if the input is invalid and cannot be submitted.
  ready?: boolean;
  // True if the dialog stays open after the action, to show the results.
  staysOpen?: boolean;
  wide?: boolean;
  // The fields of the form, each with a pattern of the controller's messages about it. The first
  // match counts.
  fields?: Readonly<Record<string, RegExp>>;
  // Returns sentences that state what was done. If there are any, they replace the form. `isOpen`
  // returns false once the user has closed the dialog.
  act: (isOpen: () => boolean) => Promise<readonly string[] | void>;
  onClose: () => void;
  children?: ComponentChildren | ((problemAt: ProblemAt) => ComponentChildren);
}

function Form({ props, error }: { props: ConfirmProps; error: RequestError | undefined }) {
  const { children, warning, fields = {} } = props;
  const named = error && Object.keys(fields).find((name) => fields[name]?.test(error.message));
  return (
    <>
      {warning && (
        <p class="reason tone-bad">
          <Icon name="warn" />
          <span>{warning}</span>
        </p>
      )}
      <p aria-live={props.staysOpen ? 'polite' : undefined}>{props.text}</p>
      {typeof children === 'function'
        ? children((field) => (field === named ? error?.message : undefined))
        : children}
      <p class="label">Command-line equivalent</p>
      <CommandLine text={props.commandLine} />
      {error && !named && <Failure error={error} />}
    </>
  );
}

export function Confirm(props: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<readonly string[]>();
  const [error, setError] = useState<RequestError>();
  // A late response must not close a dialog that was opened after this one.
  const open = useRef(true);
  useEffect(() => () => void (open.current = false), []);
  const act = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const results = await props.act(() => open.current);
      if (!open.current) return;
      if (results || props.staysOpen) setDone(results ?? []);
      else props.onClose();
    } catch (failure) {
      setError(asRequestError(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide={props.wide ?? false}>
      <form onSubmit={(event) => void act(event)}>
        {done?.length ? (
          <div role="status">
            {done.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </div>
        ) : (
          <Form props={props} error={error} />
        )}
        <footer>
          <button type="button" onClick={props.onClose}>
            {done ? 'Close' : 'Cancel'}
          </button>
          {!done && (
            <button
              type="submit"
              class={props.danger ? 'danger' : 'primary'}
              disabled={busy || stale.value || props.ready === false}
            >
              {busy ? 'Sending…' : props.button}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}
