// Shows the software that the newest attempt of a job reported.
import type { Job } from '../api/types';
import { softwareRows } from './software_rows';

export function Software({ job }: { job: Job }) {
  const rows = softwareRows(job.environment);
  if (rows.length === 0) return null;
  return (
    <>
      <p class="label">Software of attempt {job.environment?.attempt}</p>
      <div class="table-scroll" role="region" aria-label="Software" tabIndex={0}>
        <table class="settings">
          <tbody>
            {rows.map(({ name, value }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <code class="value">{value}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
