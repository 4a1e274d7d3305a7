// The numbers of a data set: funnel, sources, lengths and token files.
import type { ComponentChildren } from 'preact';
import { ABSENT, bytes, count, percent, short } from '../format/numbers';
import { funnelRows, lengthsOf, sourceRows } from './funnel';
import type { Report } from './report';

export function Panel({
  title,
  note,
  children,
}: {
  title: string;
  note?: string;
  children: ComponentChildren;
}) {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note && <span class="faint">{note}</span>}
      </header>
      {children}
    </section>
  );
}

// A table that scrolls sideways on a narrow screen. `right`: the first column with numbers.
export function Figures({
  label,
  head,
  right = 1,
  children,
}: {
  label: string;
  head: readonly string[];
  right?: number;
  children: ComponentChildren;
}) {
  return (
    <div class="data-scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="data-table">
        <thead>
          <tr>
            {head.map((name, index) => (
              <th key={name} scope="col" class={index >= right ? 'right' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export const Bar = ({ share, kind = 'step' }: { share: number; kind?: string }) => (
  <i class={`data-bar bar-${kind}`} style={{ width: `${Math.min(100, 100 * share)}%` }} />
);

const ratio = (text: number, tokens: number) => (tokens > 0 ? (text / tokens).toFixed(2) : ABSENT);

export function Funnel({ report }: { report: Report }) {
  const rows = funnelRows(report);
  if (rows.length === 0) return null;
  return (
    <Panel title="Funnel" note="documents after each step, and why they were dropped">
      <Figures label="Funnel" head={['Step', 'Documents', 'Share of input', 'Text']}>
        {rows.map(({ key, name, kind, documents, bytes: text, share }) => (
          <tr key={key} class={`row-${kind}`}>
            <th scope="row">
              {name}
              <Bar share={share} kind={kind} />
            </th>
            <td>
              {kind === 'drop' && '−'}
              {count(documents)}
            </td>
            <td>{percent(share, 2)}</td>
            <td>{bytes(text)}</td>
          </tr>
        ))}
      </Figures>
    </Panel>
  );
}

export function Sources({ report }: { report: Report }) {
  const rows = sourceRows(report);
  if (rows.length === 0) return null;
  const head = ['Directory', 'Read', 'Kept', 'Text', 'Tokens', 'Share', 'Bytes/token'];
  return (
    <Panel title="Sources" note="documents by the directory of their file">
      <Figures label="Sources" head={head}>
        {rows.map(({ directory, documentsIn, bytesIn, tokenized, share }) => (
          <tr key={directory}>
            <th scope="row" class="path">
              {directory || 'other directories'}
            </th>
            <td>{count(documentsIn)}</td>
            <td>{count(tokenized?.documents)}</td>
            <td>{bytes(tokenized?.bytes ?? bytesIn)}</td>
            <td>{short(tokenized?.tokens)}</td>
            <td>{percent(share)}</td>
            <td>{tokenized ? ratio(tokenized.bytes, tokenized.tokens) : ABSENT}</td>
          </tr>
        ))}
      </Figures>
    </Panel>
  );
}

export function Lengths({ report }: { report: Report }) {
  const lengths = lengthsOf(report);
  if (!lengths) return null;
  const most = Math.max(1, ...lengths.ranges.map(({ documents }) => documents));
  return (
    <Panel title="Lengths" note={`documents after ${lengths.step}, by length of the text`}>
      <Figures label="Lengths" head={['Length', 'Documents']}>
        {lengths.ranges.map(({ from, below, documents }) => (
          <tr key={from}>
            <th scope="row">
              {bytes(from)} to {bytes(below)}
              <Bar share={documents / most} />
            </th>
            <td>{count(documents)}</td>
          </tr>
        ))}
      </Figures>
    </Panel>
  );
}

export function TokenFiles({ report }: { report: Report }) {
  const tokens = report.steps.findLast((step) => step.tokens)?.tokens;
  if (!tokens) return null;
  return (
    <Panel title="Tokens" note={`tokenizer ${tokens.tokenizer}`}>
      <Figures label="Tokens" head={['Split', 'Documents', 'Tokens', 'Bytes/token']}>
        {tokens.splits.map(({ name, documents, tokens: of, bytesPerToken }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{count(documents)}</td>
            <td>{count(of)}</td>
            <td>{bytesPerToken?.toFixed(2) ?? ABSENT}</td>
          </tr>
        ))}
      </Figures>
    </Panel>
  );
}
