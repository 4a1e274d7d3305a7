// The slot time of the last week, by user and phase.
import { serverNow } from '../api/store';
import type { GetReportResponse } from '../api/types';
import { percent } from '../format/numbers';
import { duration } from '../format/time';
import { PHASE_WORD, plainWords } from '../format/words';
import { useLoad } from '../ui/load';
import { ledgerRows, type LedgerRow } from './ledger_rows';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const USERS = 8;

function Bar({ row }: { row: LedgerRow }) {
  return (
    <div class="ledger-bar">
      {row.parts.map(({ phase, part }) => (
        <i
          key={phase}
          class={`phase-${phase}`}
          style={{ width: `${100 * part}%` }}
          title={`${PHASE_WORD[phase] ?? plainWords(phase)} ${percent(part)}`}
        />
      ))}
    </div>
  );
}

export function LedgerCard() {
  // Rounded down to the hour, so that the request is sent at most once per hour.
  const now = Math.floor(serverNow.value / HOUR_MS) * HOUR_MS;
  const query = { by: 'user', limit: USERS, since: Math.max(1, now - WEEK_MS) };
  const path = now > 0 ? '/report' : undefined;
  const { data } = useLoad<GetReportResponse>(path, query, 'ledger');
  const rows = data ? ledgerRows(data) : [];
  if (rows.length === 0) return null;
  return (
    <section class="card later" aria-labelledby="ledger-title">
      <header>
        <h2 id="ledger-title">Ledger</h2>
        <p class="faint">slot time of the last 7 days, by user</p>
      </header>
      <div class="ledger-scroll" role="region" aria-label="Slot time by user" tabIndex={0}>
        <table class="ledger">
          <thead>
            <tr>
              <th scope="col">User</th>
              <th scope="col">Phases</th>
              <th scope="col" class="right">
                Slot time
              </th>
              <th scope="col" class="right">
                Goodput
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <td>{row.name}</td>
                <td>
                  <Bar row={row} />
                </td>
                <td class="right">{duration(row.slotSeconds)}</td>
                <td class="right">{row.goodput === undefined ? '-' : percent(row.goodput)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
