// The queues with their shares, limits and slots in use, and the actions on them.
import { useState } from 'preact/hooks';
import { capabilities, serverNow, stale } from '../api/store';
import type { JsonNumber, ListQueuesResponse, Queue } from '../api/types';
import { count, percent } from '../format/numbers';
import { useLoad } from '../ui/load';
import { Section } from '../ui/section';
import { Table, type Column } from '../ui/table';
import { DeleteQueueDialog, QueueDialog } from './queue_dialogs';
import { holdersText, shareRows, type ShareRow } from './queue_shares';

const REFRESH_MS = 10_000;

const part = (share: JsonNumber | undefined) => percent(Number(share ?? 0), 0);

const COLUMNS: readonly Column<ShareRow>[] = [
  { name: 'Queue', cell: ({ queue }) => queue.name },
  { name: 'Tier', width: '60px', right: true, priority: 3, cell: ({ queue }) => queue.tier },
  {
    name: 'Shares',
    width: '76px',
    right: true,
    priority: 2,
    cell: ({ queue }) => Math.max(1, queue.shares),
  },
  { name: 'Slots', width: '64px', cell: ({ slots }) => slots?.device ?? '—' },
  { name: 'Held', width: '76px', right: true, cell: ({ slots }) => count(slots?.held_slots ?? 0) },
  {
    name: 'Held by',
    width: '150px',
    priority: 3,
    cell: ({ slots }) => holdersText(slots) || '—',
  },
  {
    name: 'Waiting',
    width: '84px',
    right: true,
    cell: ({ slots }) => count(slots?.waiting_jobs ?? 0),
  },
  { name: 'Fair', width: '84px', right: true, cell: ({ slots }) => part(slots?.fair_share) },
  { name: 'Used', width: '84px', right: true, cell: ({ slots }) => part(slots?.usage_share) },
  { name: 'Limits', width: '220px', priority: 4, cell: (row) => row.limits || '—' },
];

type Asked = { action: 'set' | 'delete'; queue: Queue | undefined };

function actionColumn(onAsk: (asked: Asked) => void): Column<ShareRow> {
  const button = (queue: Queue, action: Asked['action'], verb: string) => (
    <button
      type="button"
      class="quiet"
      disabled={stale.value}
      aria-label={`${verb} ${queue.name}`}
      onClick={() => onAsk({ action, queue })}
    >
      {verb}…
    </button>
  );
  return {
    name: 'Actions',
    quietName: true,
    width: '184px',
    right: true,
    cell: ({ queue, isFirst }) =>
      isFirst && (
        <>
          {button(queue, 'set', 'Change')} {button(queue, 'delete', 'Delete')}
        </>
      ),
  };
}

export function SharesCard() {
  const [asked, setAsked] = useState<Asked>();
  // The table is loaded again after each dialog, which may have changed a queue.
  const [closed, setClosed] = useState(0);
  const tick = `${Math.floor(serverNow.value / REFRESH_MS)} ${closed}`;
  const { data } = useLoad<ListQueuesResponse>('/queues', { limit: 1 }, 'queues', tick);
  const rows = data ? shareRows(data) : [];
  const canChange = capabilities.value.includes('queues');
  const onClose = () => {
    setAsked(undefined);
    setClosed(closed + 1);
  };
  if (rows.length === 0 && !canChange) return null;
  return (
    <Section
      title="Queues"
      button="New queue…"
      offered={canChange}
      onButton={() => setAsked({ action: 'set', queue: undefined })}
    >
      <p class="faint">
        Jobs of a higher tier start first, then jobs of a greater priority, then jobs of the queue
        that has used less of its fair part. Use from 7 days ago counts half.
      </p>
      {rows.length > 0 && (
        <Table
          label="Queues"
          columns={canChange ? [...COLUMNS, actionColumn(setAsked)] : COLUMNS}
          rows={rows}
          rowKey={(row) => row.key}
        />
      )}
      {asked?.action === 'set' && <QueueDialog queue={asked.queue} onClose={onClose} />}
      {asked?.action === 'delete' && (
        <DeleteQueueDialog name={asked.queue?.name ?? ''} onClose={onClose} />
      )}
    </Section>
  );
}
