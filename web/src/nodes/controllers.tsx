// The controllers that share a database, and the state of this database.
import { serverNow } from '../api/store';
import type { StateLook } from '../format/words';
import { Badge } from '../ui/badge';
import { Section } from '../ui/section';
import { useServerInfo } from '../ui/server_info';
import { controllerRows, type ControllerRow } from './controller_rows';

function Row({ row: { word, text, problem } }: { row: ControllerRow }) {
  const look: StateLook = problem
    ? { word, tone: 'warn', icon: 'warn' }
    : { word, tone: 'good', icon: 'check' };
  return (
    <li>
      <p>
        <Badge look={look} />
        <span class="finding-text">{text}</span>
      </p>
      {problem && <p class="tone-warn finding-text">{problem}</p>}
    </li>
  );
}

export function Controllers() {
  const { data } = useServerInfo();
  const rows = data ? controllerRows(data, serverNow.value) : [];
  if (rows.length === 0) return null;
  return (
    <Section title="Controllers">
      <ul class="card waits">
        {rows.map((row, index) => (
          <Row key={index} row={row} />
        ))}
      </ul>
    </Section>
  );
}
