// Reads all selected lines of a log for a download, page by page.
import type { Query } from '../api/client';
import type { LogLine, ReadLogPageResponse } from '../api/types';

// Maximum size of the file, because the page keeps the whole file in memory.
const CHARACTERS_MAX = 256 * 2 ** 20;
const PAGE_LINES = 5_000;

export class LogTooLarge extends Error {}

const lineText = ({ attempt, rank, text }: LogLine, named: boolean): string =>
  named ? `[${attempt}.${rank}] ${text}\n` : `${text}\n`;

export interface WholeLogOptions {
  // True to begin each line with its attempt and rank, as the command line does.
  named: boolean;
  // Called with the number of characters read so far.
  onProgress: (size: number) => void;
  limit?: number;
}

// Throws LogTooLarge.
export async function readWholeLog(
  read: (query: Query) => Promise<ReadLogPageResponse>,
  { named, onProgress, limit = CHARACTERS_MAX }: WholeLogOptions,
): Promise<string[]> {
  const parts: string[] = [];
  let size = 0;
  let cursor: string | undefined;
  for (;;) {
    const page = await read({ direction: 'newer', limit: PAGE_LINES, cursor });
    const text = page.lines.map((line) => lineText(line, named)).join('');
    parts.push(text);
    size += text.length;
    onProgress(size);
    // Stops at the present end; otherwise the new lines of a running job could extend the download
    // without end.
    if (page.at_end || page.lines.length === 0) return parts;
    if (size > limit) throw new LogTooLarge();
    cursor = page.newer_cursor;
  }
}
