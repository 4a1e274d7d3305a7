// The rows of a data set's funnel, its sources and its lengths. Pure functions.
import type { DroppedText, LengthRange, Report, Source, Step } from './report';

export interface FunnelRow {
  // Unique in the funnel.
  key: string;
  name: string;
  kind: 'input' | 'step' | 'drop';
  documents: number;
  // Length of the text; undefined if it is unknown.
  bytes: number | undefined;
  // Documents divided by those of the input.
  share: number;
}

// Reasons that are shown for each step; the others are added up.
const REASONS_SHOWN = 12;

function dropRows(step: Step, of: number): FunnelRow[] {
  if (!step.run) return [];
  const { dropped, otherDropped } = step.run;
  const rest = dropped.slice(REASONS_SHOWN);
  const others = rest.reduce((sum, { documents }) => sum + documents, otherDropped);
  const rows = dropped.slice(0, REASONS_SHOWN).map(({ reason, documents, bytes }): FunnelRow => ({
    key: `${step.directory} ${reason}`,
    name: reason,
    kind: 'drop',
    documents,
    bytes,
    share: documents / of,
  }));
  if (others === 0) return rows;
  const name = 'other reasons';
  const key = `${step.directory} / others`;
  return [
    ...rows,
    { key, name, kind: 'drop', documents: others, bytes: undefined, share: others / of },
  ];
}

// Returns the documents before the first step and after each step, with the reasons of drops.
export function funnelRows({ steps }: Report): FunnelRow[] {
  const first = steps.find(({ run }) => run)?.run;
  const runs = steps.filter(({ run }) => run);
  const split = steps.findLast(({ tokens }) => tokens);
  const tokenized = split?.tokens?.splits ?? [];
  const input = first?.documentsIn ?? tokenized.reduce((sum, { documents }) => sum + documents, 0);
  const of = Math.max(input, 1);
  const rows: FunnelRow[] = first
    ? [
        {
          key: 'input',
          name: 'Input',
          kind: 'input',
          documents: first.documentsIn,
          bytes: first.bytesIn,
          share: first.documentsIn / of,
        },
      ]
    : [];
  for (const step of runs) {
    const { documentsOut: documents, bytesOut: bytes } = step.run!;
    rows.push(...dropRows(step, of), {
      key: step.directory,
      name: step.name,
      kind: 'step',
      documents,
      bytes,
      share: documents / of,
    });
  }
  for (const { name, documents } of tokenized) {
    rows.push({
      key: `${split!.directory} ${name}`,
      name: `${split!.name}: ${name}`,
      kind: 'step',
      documents,
      bytes: undefined,
      share: documents / of,
    });
  }
  return rows;
}

export interface SourceRow {
  directory: string;
  documentsIn: number | undefined;
  bytesIn: number | undefined;
  tokenized: Source | undefined;
  // Part of all tokens; undefined if the tokens are unknown.
  share: number | undefined;
}

// Returns the directories of the input with what became of their documents, largest first.
export function sourceRows({ steps }: Report): SourceRow[] {
  const tokenized = steps.findLast(({ tokens }) => tokens)?.tokens?.sources ?? [];
  const all = tokenized.reduce((sum, { tokens }) => sum + tokens, 0);
  const rows = new Map<string, SourceRow>();
  const rowOf = (directory: string): SourceRow => {
    const empty = { documentsIn: undefined, bytesIn: undefined, tokenized: undefined };
    const row = rows.get(directory) ?? { directory, ...empty, share: undefined };
    rows.set(directory, row);
    return row;
  };
  for (const { inputs } of steps) {
    for (const { directory, use, derived, documentsIn, bytesIn } of inputs) {
      if (derived || use !== 'train' || documentsIn === undefined) continue;
      const row = rowOf(directory);
      row.documentsIn = (row.documentsIn ?? 0) + documentsIn;
      row.bytesIn = (row.bytesIn ?? 0) + bytesIn;
    }
  }
  for (const source of tokenized) {
    const row = rowOf(source.directory);
    row.tokenized = source;
    row.share = source.tokens / Math.max(all, 1);
  }
  const size = ({ tokenized: of, bytesIn }: SourceRow) => of?.bytes ?? bytesIn ?? 0;
  return [...rows.values()].sort((a, b) => size(b) - size(a));
}

// Returns the lengths of the documents of the last step that has them, without gaps.
export function lengthsOf({ steps }: Report): { step: string; ranges: LengthRange[] } | undefined {
  const step = steps.findLast(({ run }) => (run?.lengths.length ?? 0) > 0);
  if (!step?.run) return undefined;
  const ranges: LengthRange[] = [];
  for (const range of step.run.lengths) {
    // Lengths are in powers of 2. A range without documents is absent from the report.
    for (let last = ranges.at(-1); last && last.below < range.from; last = ranges.at(-1)) {
      ranges.push({ from: last.below, below: Math.max(1, 2 * last.below), documents: 0 });
    }
    ranges.push(range);
  }
  return { step: step.name, ranges };
}

export interface DroppedReason {
  directory: string;
  step: string;
  reason: string;
  texts: DroppedText[];
}

// Returns the texts of dropped documents by step and reason, in the order of the report.
export function droppedReasons({ steps }: Report): DroppedReason[] {
  const reasons: DroppedReason[] = [];
  for (const { directory, name: step, dropped } of steps) {
    for (const text of dropped) {
      const { reason } = text;
      const known = reasons.find((one) => one.directory === directory && one.reason === reason);
      if (known) known.texts.push(text);
      else reasons.push({ directory, step, reason, texts: [text] });
    }
  }
  return reasons;
}
