// Actions that one part of the dashboard requests from another. The palette, for example, opens a
// page and requests the dialog of an action from that page.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

interface AskedAction {
  // The job or node, as in jobSubject() and nodeSubject().
  subject: string;
  action: string;
}

export const askedAction = signal<AskedAction | undefined>(undefined);
export const jobSubject = (id: number) => `job ${id}`;
export const nodeSubject = (id: string) => `node ${id}`;

// Returns the action whose dialog is open, and a function that changes it. If an action was asked
// for, opens its dialog.
export function useAction<T extends string>(
  subject: string,
): [T | undefined, (action: T | undefined) => void] {
  const [action, setAction] = useState<T>();
  const asked = askedAction.value;
  useEffect(() => {
    if (asked?.subject !== subject) return;
    askedAction.value = undefined;
    setAction(asked.action as T);
  }, [asked, subject]);
  return [action, setAction];
}
