// Actions on a node. Each action has a confirmation and shows the equivalent command line.
import { useState } from 'preact/hooks';
import { postJson } from '../api/client';
import type { Node } from '../api/types';
import { Confirm } from '../job/confirm';

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

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
    ? 'New ranks may be placed on this node again.'
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
        <label class="field">
          Reason (visible to all users)
          <input
            type="text"
            maxLength={256}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
      )}
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
