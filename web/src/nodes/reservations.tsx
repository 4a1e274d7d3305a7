// The reservations of nodes, and the dialogs that create and delete them.
import { useState } from 'preact/hooks';
import { deleteJson, postJson } from '../api/client';
import { capabilities, serverNow, stale } from '../api/store';
import type {
  CreateReservationResponse,
  ListReservationsResponse,
  NodeReservation,
} from '../api/types';
import { clockTime, duration } from '../format/time';
import { sentence } from '../format/words';
import { Choice } from '../ui/choice';
import { Confirm } from '../ui/confirm';
import { Field } from '../ui/field';
import { useLoad } from '../ui/load';
import { Section } from '../ui/section';
import { Table, type Column } from '../ui/table';
import { ReasonField } from './reason_field';
import {
  NO_RESERVATION,
  PATTERNS,
  canReserve,
  lengthProblem,
  reservationCommand,
  reservationOf,
  type Draft,
  type Owner,
} from './reservation_form';

const REFRESH_MS = 30_000;

const OWNERS: readonly (readonly [Owner, string])[] = [
  ['nobody', 'no jobs'],
  ['queue', 'the jobs of a queue'],
  ['user', 'the jobs of a user'],
];

const pathOf = (name: string) => `/reservations/${encodeURIComponent(name)}`;

function ReserveDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState(NO_RESERVATION);
  // Time of the first click. A retry must send the same time, so that the controller recognizes the
  // request after a lost response.
  const [sentMs, setSentMs] = useState<number>();
  const change = (part: Partial<Draft>) => {
    setSentMs(undefined);
    setDraft({ ...draft, ...part });
  };
  return (
    <Confirm
      title="Reserve nodes"
      text={
        'From the start to the end, only the chosen jobs start on the nodes. Before the start, ' +
        'no other job starts there that could run beyond it.'
      }
      commandLine={reservationCommand(draft)}
      button="Reserve nodes"
      ready={canReserve(draft)}
      fields={PATTERNS}
      onClose={onClose}
      act={async () => {
        const name = draft.name.trim();
        const nowMs = sentMs ?? serverNow.peek();
        setSentMs(nowMs);
        const body = { reservation: reservationOf(draft, nowMs) };
        const { warnings } = await postJson<CreateReservationResponse>(pathOf(name), body);
        return [`The reservation ${name} was created.`, ...warnings.map(sentence)];
      }}
    >
      {(problemAt) => (
        <>
          <Field
            label="Name"
            value={draft.name}
            autofocus
            problem={problemAt('name')}
            onText={(name) => change({ name })}
          />
          <Field
            label="Nodes, such as gpu[01-04],gpu07"
            value={draft.nodes}
            problem={problemAt('nodes')}
            onText={(nodes) => change({ nodes })}
          />
          <div class="field-row">
            <Field
              label="Start, local time (empty: now)"
              type="datetime-local"
              value={draft.start}
              onText={(start) => change({ start })}
            />
            <Field
              label="Length"
              value={draft.length}
              problem={lengthProblem(draft) ?? problemAt('length')}
              onText={(length) => change({ length })}
            />
          </div>
          <Choice
            label="For"
            value={draft.owner}
            choices={OWNERS}
            onChoose={(owner) => change({ owner })}
          />
          {draft.owner !== 'nobody' && (
            <Field
              label={`Name of the ${draft.owner}`}
              value={draft.ownerName}
              problem={problemAt('owner')}
              onText={(ownerName) => change({ ownerName })}
            />
          )}
          <ReasonField
            value={draft.reason}
            problem={problemAt('reason')}
            onText={(reason) => change({ reason })}
          />
          <label>
            <input
              type="checkbox"
              checked={draft.drain}
              onChange={(event) => change({ drain: event.currentTarget.checked })}
            />{' '}
            Running jobs of others save and leave the nodes at the start
          </label>
        </>
      )}
    </Confirm>
  );
}

function DeleteDialog({ name, onClose }: { name: string; onClose: () => void }) {
  return (
    <Confirm
      title={`Delete the reservation ${name}?`}
      text="All jobs may then start on its nodes."
      commandLine={`trainyard reservation delete ${name}`}
      button="Delete reservation"
      danger
      onClose={onClose}
      act={async () => {
        await deleteJson(pathOf(name));
        return [`The reservation ${name} was deleted.`];
      }}
    />
  );
}

const ownerText = ({ queue, user }: NodeReservation) =>
  queue ? `queue ${queue}` : user ? `user ${user}` : 'no jobs';

function columns(nowMs: number): Column<NodeReservation>[] {
  return [
    { name: 'Reservation', cell: ({ name }) => name },
    { name: 'Nodes', cell: ({ nodes }) => nodes.join(', ') },
    { name: 'Start', width: '150px', cell: (one) => clockTime(one.start_ms, nowMs) },
    {
      name: 'Length',
      width: '84px',
      cell: (one) => duration((one.end_ms - one.start_ms) / 1000),
    },
    { name: 'For', width: '130px', priority: 2, cell: ownerText },
    { name: 'Drains', width: '76px', priority: 4, cell: ({ drain }) => (drain ? 'yes' : 'no') },
    { name: 'Reason', priority: 3, cell: ({ reason }) => reason || '—' },
  ];
}

export function Reservations() {
  // The reservation to delete; '' for the dialog of a new one.
  const [asked, setAsked] = useState<string>();
  // The table is loaded again after each dialog, which may have changed a reservation.
  const [closed, setClosed] = useState(0);
  const tick = `${Math.floor(serverNow.value / REFRESH_MS)} ${closed}`;
  const { data } = useLoad<ListReservationsResponse>('/reservations', {}, 'reservations', tick);
  const rows = data?.reservations ?? [];
  const canChange = capabilities.value.includes('reservations');
  const onClose = () => {
    setAsked(undefined);
    setClosed(closed + 1);
  };
  if (rows.length === 0 && !canChange) return null;
  const actions: Column<NodeReservation> = {
    name: 'Actions',
    quietName: true,
    width: '90px',
    right: true,
    cell: ({ name }) => (
      <button
        type="button"
        class="quiet"
        disabled={stale.value}
        aria-label={`Delete ${name}`}
        onClick={() => setAsked(name)}
      >
        Delete…
      </button>
    ),
  };
  const shown = columns(serverNow.value);
  return (
    <Section
      title="Reservations"
      button="Reserve nodes…"
      offered={canChange}
      onButton={() => setAsked('')}
    >
      {data && rows.length === 0 && <p class="faint">No nodes are reserved.</p>}
      {rows.length > 0 && (
        <Table
          label="Reservations"
          columns={canChange ? [...shown, actions] : shown}
          rows={rows}
          rowKey={({ name }) => name}
        />
      )}
      {asked === '' && <ReserveDialog onClose={onClose} />}
      {asked && <DeleteDialog name={asked} onClose={onClose} />}
    </Section>
  );
}
