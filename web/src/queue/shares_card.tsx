// The queues with their shares, limits and slots in use.
import { serverNow } from '../api/store';
import type { JsonNumber, ListQueuesResponse } from '../api/types';
import { count, percent } from '../format/numbers';
import { useLoad } from '../ui/load';
import { Table, type Column } from '../ui/table';
import { shareRows, type ShareRow } from './queue_shares';

const REFRESH_MS = 10_000;

const part = (share: JsonNumber) => percent(Number(share), 0);

const COLUMNS: readonly Column<ShareRow>[] = [
  { name: 'Queue', cell: (row) => row.queue },
  { name: 'Tier', width: '60px', right: true, priority: 3, cell: (row) => row.tier },
  { name: 'Shares', width: '76px', right: true, priority: 2, cell: (row) => row.shares },
  { name: 'Slots', width: '64px', cell: (row) => row.slots.device },
  { name: 'Held', width: '76px', right: true, cell: (row) => count(row.slots.held_slots) },
  { name: 'Waiting', width: '84px', right: true, cell: (row) => count(row.slots.waiting_jobs) },
  { name: 'Fair', width: '84px', right: true, cell: (row) => part(row.slots.fair_share) },
  { name: 'Used', width: '84px', right: true, cell: (row) => part(row.slots.usage_share) },
  { name: 'Limits', width: '220px', priority: 4, cell: (row) => row.limits || '—' },
];

export function SharesCard() {
  const tick = Math.floor(serverNow.value / REFRESH_MS);
  const { data } = useLoad<ListQueuesResponse>('/queues', { limit: 1 }, 'queues', tick);
  const rows = data ? shareRows(data) : [];
  if (rows.length === 0) return null;
  return (
    <section class="queue-group" aria-labelledby="shares-title">
      <h2 id="shares-title">Queues</h2>
      <p class="faint">
        Jobs of a higher tier start first, then jobs of a greater priority, then jobs of the queue
        that has used less of its fair part. Use from 7 days ago counts half.
      </p>
      <Table label="Queues" columns={COLUMNS} rows={rows} rowKey={(row) => row.key} />
    </section>
  );
}
