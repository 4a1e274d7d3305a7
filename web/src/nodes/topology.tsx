// The groups of the topology, and the dialog that replaces the topology.
import { useState } from 'preact/hooks';
import { asRequestError, postJson } from '../api/client';
import { capabilities, serverNow } from '../api/store';
import type { GetTopologyResponse, SetTopologyResponse } from '../api/types';
import { sentence } from '../format/words';
import { Confirm } from '../ui/confirm';
import { TextArea } from '../ui/field';
import { useLoad } from '../ui/load';
import { Section } from '../ui/section';
import { Table, type Column } from '../ui/table';
import { changedText, groupRows, topologyNotes, type GroupRow } from './topology_text';

const REFRESH_MS = 30_000;
const INDENT_PX = 16;
const EXAMPLE = 'groups:\n  - {name: leaf1, level: leaf, nodes: ["gpu[01-16]"]}';

interface FileFieldProps {
  text: string;
  problem: string | undefined;
  onText: (text: string) => void;
}

// A text area, which a file can fill.
function FileField({ text, problem, onText }: FileFieldProps) {
  const [unread, setUnread] = useState<string>();
  const read = async (file: File | undefined) => {
    try {
      if (file) onText(await file.text());
      setUnread(undefined);
    } catch (error) {
      setUnread(`The file cannot be read: ${asRequestError(error).message}`);
    }
  };
  return (
    <>
      <label>
        Upload a file{' '}
        <input
          type="file"
          accept=".yaml,.yml,.json"
          onChange={(event) => void read(event.currentTarget.files?.[0])}
        />
      </label>
      <TextArea
        label="Topology file"
        rows={12}
        placeholder={EXAMPLE}
        value={text}
        problem={unread ?? problem}
        onText={(edited) => {
          setUnread(undefined);
          onText(edited);
        }}
      />
    </>
  );
}

function TopologyDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  return (
    <Confirm
      title="Set the topology?"
      text={
        'The file replaces the whole topology. Running jobs keep their nodes. A file with the ' +
        'line “groups: []” removes the topology.'
      }
      commandLine="trainyard topology set FILE"
      button="Set topology"
      ready={text.trim() !== ''}
      fields={{ file: /./ }}
      wide
      onClose={onClose}
      act={async () => {
        const body = { topology_file: text };
        const { topology, warnings } = await postJson<SetTopologyResponse>('/topology', body);
        return [...(topology ? [changedText(topology)] : []), ...warnings.map(sentence)];
      }}
    >
      {(problemAt) => <FileField text={text} problem={problemAt('file')} onText={setText} />}
    </Confirm>
  );
}

const COLUMNS: readonly Column<GroupRow>[] = [
  {
    name: 'Group',
    cell: ({ name, depth }) => (
      <span style={{ paddingLeft: `${depth * INDENT_PX}px` }}>{name}</span>
    ),
  },
  { name: 'Level', width: '120px', cell: ({ level }) => level },
  { name: 'In', width: '160px', priority: 2, cell: ({ parent }) => parent || '—' },
  { name: 'Nodes', width: '84px', right: true, cell: ({ nodes }) => nodes },
  { name: 'Open', width: '84px', right: true, cell: ({ open_nodes: open }) => open },
  { name: 'Idle', width: '84px', right: true, cell: ({ idle_nodes: idle }) => idle },
];

export function Topology() {
  const [open, setOpen] = useState(false);
  const tick = `${Math.floor(serverNow.value / REFRESH_MS)} ${open}`;
  const { data } = useLoad<GetTopologyResponse>('/topology', {}, 'topology', tick);
  const rows = groupRows(data?.groups ?? []);
  const canChange = capabilities.value.includes('topology');
  if (rows.length === 0 && !canChange) return null;
  return (
    <Section
      title="Topology"
      button="Set topology…"
      offered={canChange}
      onButton={() => setOpen(true)}
    >
      {data && rows.length === 0 && <p class="faint">The cluster has no topology.</p>}
      {rows.length > 0 && (
        <Table label="Topology" columns={COLUMNS} rows={rows} rowKey={({ name }) => name} />
      )}
      {data && topologyNotes(data).map((note) => (
        <p key={note} class="faint">
          {note}
        </p>
      ))}
      {open && <TopologyDialog onClose={() => setOpen(false)} />}
    </Section>
  );
}
