// Moves between the error lines of a log, including lines that are not loaded yet.
import { useState } from 'preact/hooks';
import { asRequestError, getJson } from '../api/client';
import type { ReadLogPageResponse } from '../api/types';
import { setQuery } from '../router/router';
import { isLine, loadedError, searchFrom, type Direction } from './error_jump';
import { lineName, type LineName } from './log_lines';
import { filterQuery, type LogFilter, type LogReader } from './use_log';

export function useErrorJump(
  jobId: number,
  filter: LogFilter,
  reader: LogReader,
  open: LineName | undefined,
) {
  const [note, setNote] = useState('');
  const { buffer } = reader;
  const find = async (direction: Direction): Promise<LineName | undefined> => {
    if (!buffer) return undefined;
    const loaded = open && loadedError(buffer, open, direction);
    const from = searchFrom(buffer, open, direction);
    if (loaded || !from) return loaded;
    const asked = { ...filterQuery(filter), ...from, level: 'error', direction, limit: 1 };
    return (await getJson<ReadLogPageResponse>(`/jobs/${jobId}/logs`, asked)).lines[0];
  };
  const jump = async (direction: Direction) => {
    setNote('');
    try {
      const line = await find(direction);
      if (!line) {
        setNote(open ? `No ${direction === 'newer' ? 'later' : 'earlier'} error` : 'No errors');
        return;
      }
      setQuery({ line: lineName(line), from: undefined });
      if (!buffer?.lines.some(isLine(line))) reader.goTo(line);
    } catch (failure) {
      setNote(asRequestError(failure).message);
    }
  };
  return { note, jump };
}
