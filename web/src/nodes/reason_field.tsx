// The reason of an action, such as a cordon.
import { Field } from '../ui/field';

const CHARS_MAX = 256;

interface ReasonFieldProps {
  value: string;
  problem?: string | undefined;
  onText: (text: string) => void;
}

export const ReasonField = (props: ReasonFieldProps) => (
  <Field label="Reason (visible to all users)" maxLength={CHARS_MAX} {...props} />
);
