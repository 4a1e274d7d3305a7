// Opens the log of a failed job at the line that describes the error.
import { useEffect, useState } from 'preact/hooks';
import { getJson } from '../api/client';
import type { Job, ReadLogPageResponse } from '../api/types';
import { query, setQuery } from '../router/router';
import { failedOutput, opensAtFailure, type FailedOutput } from './failed_line';
import { lineName } from './log_lines';

// Returns the name of the newest line that contains the error; undefined if the line is not stored.
async function findLine(
  jobId: number,
  { attempt, rank, errorLine }: FailedOutput,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (errorLine === '') return undefined;
  const asked = { ranks: String(rank), attempt, grep: errorLine, direction: 'older', limit: 1 };
  const page = await getJson<ReadLogPageResponse>(`/jobs/${jobId}/logs`, asked, signal);
  return page.lines[0] && lineName(page.lines[0]);
}

// Returns true once the address names the part of the log to show. The search happens only once,
// so that the user can leave the failed rank.
export function useFailedLine(job: Job): boolean {
  const [output] = useState(() => {
    const found = failedOutput(job);
    return found && opensAtFailure(query.peek(), found) ? found : undefined;
  });
  const [ready, setReady] = useState(output === undefined);
  useEffect(() => {
    if (!output) return undefined;
    const abort = new AbortController();
    const open = (line: string | undefined) => {
      if (abort.signal.aborted) return;
      setQuery({ ranks: output.rank, attempt: output.attempt, line });
      setReady(true);
    };
    // If the search fails, the log opens at the end of the rank's output.
    findLine(job.id, output, abort.signal).then(open, () => open(undefined));
    return () => abort.abort();
  }, []);
  return ready;
}
