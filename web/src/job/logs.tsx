// Shows the output of the ranks. The user can follow, filter and search it; the controller does the
// search.
import { useEffect, useState } from 'preact/hooks';
import { logsTick } from '../api/store';
import type { Job } from '../api/types';
import { bytes, count } from '../format/numbers';
import { query } from '../router/router';
import { ordinalIn } from '../router/url';
import { useKeys } from '../ui/keyboard';
import { Failure, EmptyState, Skeleton } from '../ui/notice';
import { emptyLog } from './empty_text';
import { olderCursorOf, parseLineName, rankList, type LogBuffer } from './log_lines';
import { LogRows } from './log_rows';
import { levelOf } from './log_search';
import { LogTools } from './log_tools';
import { useErrorJump } from './use_error_jump';
import { useFailedLine } from './use_failed_line';
import { useLog, type LogFilter } from './use_log';

function useLogFilter(): LogFilter {
  const at = query.value;
  return {
    ranks: rankList(at.get('ranks') ?? '') ?? '',
    attempt: ordinalIn(at, 'attempt'),
    grep: at.get('grep') ?? '',
    matchCase: at.has('case'),
    regex: at.has('regex'),
    level: levelOf(at.get('level')),
    fromStart: at.get('from') === 'start',
  };
}

function LoadedText({ buffer }: { buffer: LogBuffer }) {
  return (
    <p class="density">
      {count(buffer.lines.length)} lines loaded
      {olderCursorOf(buffer) ? ', older lines above' : ''}
      {buffer.complete ? ', output complete' : ''} · about{' '}
      {bytes(buffer.lines.reduce((sum, line) => sum + line.text.length, 0))}
    </p>
  );
}

function LogView({ job }: { job: Job }) {
  const filter = useLogFilter();
  const line = parseLineName(query.value.get('line') ?? '');
  const [follow, setFollow] = useState(!filter.fromStart && !line);
  const reader = useLog(job.id, filter, line);
  const { buffer } = reader;
  const errors = useErrorJump(job.id, filter, reader, line);
  const jump = (direction: 'older' | 'newer') => {
    setFollow(false);
    void errors.jump(direction);
  };
  useKeys({ e: () => jump('newer'), E: () => jump('older') });
  // Loads page after page up to the end. Starts again when the controller reports new lines.
  const behind = buffer !== undefined && !buffer.atEnd && buffer.newerCursor;
  useEffect(() => {
    if (follow && buffer) void reader.loadNewer();
  }, [logsTick.value, follow, behind, buffer === undefined]);
  return (
    <div class="logs">
      <LogTools
        job={job}
        filter={filter}
        following={follow && !(buffer?.complete ?? false)}
        onFollow={(on) => {
          setFollow(on);
          // The unchanged filter does not restart the reader. A restart is needed because the
          // requested end of the output may have been dropped.
          if (filter.fromStart !== on && !(on && buffer?.atEnd)) reader.restart();
        }}
        note={errors.note}
        onError={jump}
      />
      {reader.error && <Failure error={reader.error} />}
      {!buffer && !reader.error && <Skeleton rows={12} height={14} />}
      {buffer?.lines.length === 0 && <EmptyState words={emptyLog(filter, buffer.complete)} />}
      {buffer && buffer.lines.length > 0 && (
        <>
          <LogRows
            jobId={job.id}
            reader={reader}
            filter={filter}
            follow={follow}
            setFollow={setFollow}
          />
          <LoadedText buffer={buffer} />
        </>
      )}
    </div>
  );
}

export function Logs({ job }: { job: Job }) {
  const ready = useFailedLine(job);
  return ready ? <LogView job={job} /> : <Skeleton rows={12} height={14} />;
}
