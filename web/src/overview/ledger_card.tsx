// The slot time of the last week, by user and phase.
import { serverNow } from '../api/store';
import type { GetReportResponse } from '../api/types';
import { percent } from '../format/numbers';
import { duration } from '../format/time';
import { money } from '../format/usage';
import { Link } from '../router/router';
import { useLoad } from '../ui/load';
import { PhaseBar } from '../ui/phase_bar';
import { ledgerRows } from './ledger_rows';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const USERS = 8;

export function LedgerCard() {
  // Rounded down to the hour, so that the request is sent at most once per hour.
  const now = Math.floor(serverNow.value / HOUR_MS) * HOUR_MS;
  const query = { by: 'user', limit: USERS, since: Math.max(1, now - WEEK_MS) };
  const path = now > 0 ? '/report' : undefined;
  const { data } = useLoad<GetReportResponse>(path, query, 'ledger');
  const rows = data ? ledgerRows(data) : [];
  if (rows.length === 0) return null;
  const hasCost = data?.total?.cost !== undefined;
  return (
    <section class="card later" aria-labelledby="ledger-title">
      <header>
        <h2 id="ledger-title">Ledger</h2>
        <p class="faint">slot time of the last 7 days, by user</p>
        <Link href="/usage" class="faint">
          usage
        </Link>
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
              {hasCost && (
                <th scope="col" class="right">
                  Cost
                </th>
              )}
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
                  <PhaseBar parts={row.parts} />
                </td>
                <td class="right">{duration(row.slotSeconds)}</td>
                {hasCost && <td class="right">{money(row.cost)}</td>}
                <td class="right">{row.goodput === undefined ? '-' : percent(row.goodput)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
