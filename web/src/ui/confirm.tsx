// A dialog that confirms an action on a job and shows the equivalent command line.
import { useState } from 'preact/hooks';
import { asRequestError, type RequestError } from '../api/client';
import { stale } from '../api/store';
import { CommandLine } from './copy';
import { Dialog } from './dialog';
import { Icon } from './icon';
import { Failure } from './notice';

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
  act: () => Promise<void>;
  onClose: () => void;
  children?: preact.ComponentChildren;
}

export function Confirm(props: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState(false);
  const [error, setError] = useState<RequestError>();
  const act = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await props.act();
      if (props.staysOpen) setDone(true);
      else props.onClose();
    } catch (failure) {
      setError(asRequestError(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose} wide={props.wide ?? false}>
      {props.warning && (
        <p class="reason tone-bad">
          <Icon name="warn" />
          <span>{props.warning}</span>
        </p>
      )}
      <p aria-live={props.staysOpen ? 'polite' : undefined}>{props.text}</p>
      {props.children}
      <p class="label">Command-line equivalent</p>
      <CommandLine text={props.commandLine} />
      {error && <Failure error={error} />}
      <footer>
        <button type="button" onClick={props.onClose}>
          {done ? 'Close' : 'Cancel'}
        </button>
        {!done && (
          <button
            type="button"
            class={props.danger ? 'danger' : 'primary'}
            disabled={busy || stale.value || props.ready === false}
            onClick={() => void act()}
          >
            {busy ? 'Sending…' : props.button}
          </button>
        )}
      </footer>
    </Dialog>
  );
}
