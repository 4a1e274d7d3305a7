// Shows the open line of a log with its whole text, and the neighboring lines of its rank.
import { useEffect, useState } from 'preact/hooks';
import { getJson, isAbort } from '../api/client';
import type { ReadLogPageResponse } from '../api/types';
import { count } from '../format/numbers';
import { fullTime } from '../format/time';
import { Icon } from '../ui/icon';
import { leveled, lineName, withoutEscapes, type LeveledLine } from './log_lines';

// Number of neighboring lines on each side.
const NEIGHBORS = 5;

// Returns the open line with its neighbors, oldest first. Until the neighbors arrive, returns only
// the line.
function useNeighbours(jobId: number, line: LeveledLine): readonly LeveledLine[] {
  const [lines, setLines] = useState<readonly LeveledLine[]>([line]);
  const name = lineName(line);
  useEffect(() => {
    const abort = new AbortController();
    const { rank, attempt, offset } = line;
    const read = async (direction: 'older' | 'newer', limit: number) => {
      const asked = { ranks: String(rank), attempt, offset, direction, limit };
      const path = `/jobs/${jobId}/logs`;
      return leveled(await getJson<ReadLogPageResponse>(path, asked, abort.signal));
    };
    // The newer lines begin with the line itself.
    Promise.all([read('older', NEIGHBORS), read('newer', NEIGHBORS + 1)]).then(
      (sides) => setLines(sides.flat()),
      (failure: unknown) => {
        // The line itself is shown in any case.
        if (!isAbort(failure)) setLines([line]);
      },
    );
    return () => abort.abort();
  }, [jobId, name]);
  return lines.some((one) => lineName(one) === name) ? lines : [line];
}

function Neighbours({ jobId, line }: { jobId: number; line: LeveledLine }) {
  const lines = useNeighbours(jobId, line);
  return (
    <ol class="log-context" aria-label={`Neighboring lines of rank ${line.rank}`} tabIndex={0}>
      {lines.map((one) => (
        <li
          key={lineName(one)}
          class={`level-${one.level}`}
          aria-current={lineName(one) === lineName(line) ? 'true' : undefined}
        >
          {withoutEscapes(one.text)}
        </li>
      ))}
    </ol>
  );
}

interface LineDetailProps {
  jobId: number;
  line: LeveledLine;
  // True if the log does not show the neighboring lines of the rank.
  withNeighbours: boolean;
  // Shows the line among all lines of the output; undefined if all lines are shown already.
  onShowAll: (() => void) | undefined;
  onClose: () => void;
}

export function LineDetail(props: LineDetailProps) {
  const { jobId, line, withNeighbours, onShowAll, onClose } = props;
  return (
    <div class="log-detail" role="region" aria-label="Open line" aria-live="polite">
      <p class="faint">
        attempt {line.attempt} · rank {line.rank} · byte {count(line.offset)} ·{' '}
        {fullTime(line.time_ms)}{' '}
        {onShowAll && (
          <button type="button" class="quiet" onClick={onShowAll}>
            Show all lines here
          </button>
        )}
        <button type="button" class="quiet" onClick={onClose}>
          <Icon name="close" />
          Close
        </button>
      </p>
      <pre tabIndex={0}>{withoutEscapes(line.text)}</pre>
      {withNeighbours && <Neighbours jobId={jobId} line={line} />}
    </div>
  );
}
