// Actions on a node. Each action has a confirmation and shows the equivalent command line.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import type { Node } from '../api/types';
import { quoted } from '../format/shell';
import { Confirm } from '../ui/confirm';
import { ReasonField } from './reason_field';

interface NodeDialogProps {
  node: Node;
  onClose: () => void;
}

// Cordons a node, or removes its cordon.
export function CordonDialog({ node, onClose }: NodeDialogProps) {
  const [reason, setReason] = useState('');
  const command = node.cordoned ? 'uncordon' : 'cordon';
  const option = node.cordoned || reason === '' ? '' : ` --reason ${quoted(reason)}`;
  const text = node.cordoned
    ? 'New ranks may be placed on this node again. This also ends a drain.'
    : 'No new ranks are placed on this node. Running ranks continue.';
  return (
    <Confirm
      title={`${node.cordoned ? 'Uncordon' : 'Cordon'} ${node.name}?`}
      text={text}
      commandLine={`trainyard node ${command} ${node.name}${option}`}
      button={node.cordoned ? 'Uncordon' : 'Cordon'}
      onClose={onClose}
      act={async () => {
        const body = node.cordoned ? {} : { reason };
        await postJson(`/nodes/${encodeURIComponent(node.id)}/${command}`, body);
      }}
    >
      {!node.cordoned && (
        <ReasonField value={reason} onText={setReason} />
      )}
    </Confirm>
  );
}

// Offered deadlines: label, duration on the command line, and milliseconds.
const DEADLINES = [
  ['no time', '0', 0],
  ['10 minutes', '10m', 600_000],
  ['30 minutes', '30m', 1_800_000],
  ['2 hours', '2h', 7_200_000],
  ['12 hours', '12h', 43_200_000],
] as const;

// Drains a node, or changes the deadline of its drain.
export function DrainDialog({ node, onClose }: NodeDialogProps) {
  const [reason, setReason] = useState('');
  const [index, setIndex] = useState(2);
  const [, argument, afterMs] = DEADLINES[index] ?? DEADLINES[0];
  const option = reason === '' ? '' : ` --reason ${quoted(reason)}`;
  return (
    <Confirm
      title={`Drain ${node.name}?`}
      text="No new ranks are placed on this node. Its jobs save and move to other nodes."
      commandLine={`trainyard node drain ${node.name} --deadline ${argument}${option}`}
      button="Drain"
      onClose={onClose}
      act={async () => {
        const body = { drain_after_ms: afterMs, reason };
        await postJson(`/nodes/${encodeURIComponent(node.id)}/drain`, body);
      }}
    >
      <label class="field">
        Jobs may stay for
        <select value={index} onChange={(event) => setIndex(Number(event.currentTarget.value))}>
          {DEADLINES.map(([label], at) => (
            <option key={label} value={at}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <ReasonField value={reason} onText={setReason} />
    </Confirm>
  );
}

export function ReleaseDialog({ node, onClose }: NodeDialogProps) {
  return (
    <Confirm
      title={`Release ${node.name} from quarantine?`}
      text="New ranks may be placed on this node again. Earlier failures no longer count."
      commandLine={`trainyard node release ${node.name}`}
      button="Release"
      onClose={onClose}
      act={async () => {
        await postJson(`/nodes/${encodeURIComponent(node.id)}/release`, {});
      }}
    />
  );
}
