// A table of names and values, such as the software of a job.
export interface NamedValue {
  name: string;
  value?: string;
}

export function NamedValues({ label, rows }: { label: string; rows: readonly NamedValue[] }) {
  if (rows.length === 0) return null;
  return (
    <>
      <p class="label">{label}</p>
      <div class="table-scroll" role="region" aria-label={label} tabIndex={0}>
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
